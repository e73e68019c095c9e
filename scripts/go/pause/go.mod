module platen.dev/development/pause

go 1.24.0
