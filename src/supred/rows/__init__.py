"""Where rows live: arrays, files larger than memory, clusters."""
