"""The low-dimensional SVM (Wang and Carreira-Perpinan 2014)."""
