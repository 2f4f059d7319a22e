"""What every module may use: errors, files, command lines, YAML."""
