"""Max-margin projection (Chechik 2008)."""
