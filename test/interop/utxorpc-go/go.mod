module arbor/utxorpc

go 1.26.0

require (
	connectrpc.com/connect v1.21.1
	github.com/utxorpc/go-codegen v0.18.1
	google.golang.org/protobuf v1.36.11
)
