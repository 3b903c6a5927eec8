"""Results as others read them."""
