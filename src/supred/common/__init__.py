"""What every layer uses: checks of arguments, labels, files that are written whole."""
