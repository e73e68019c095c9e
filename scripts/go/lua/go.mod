module platen.dev/development/lua

go 1.24.0

tool github.com/yuin/gopher-lua/cmd/glua

require (
	github.com/chzyer/readline v1.5.1 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	golang.org/x/sys v0.30.0 // indirect
)
