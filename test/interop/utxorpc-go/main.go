// UTxO RPC by its Go messages and connect-go's gRPC client over plain HTTP/2. Calls and answers as in serve.mjs: a call
// names a method, its arguments are the request in protobuf's JSON, with `take` for the number of messages of a stream.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"
	"github.com/utxorpc/go-codegen/utxorpc/v1alpha/query"
	"github.com/utxorpc/go-codegen/utxorpc/v1alpha/query/queryconnect"
	"github.com/utxorpc/go-codegen/utxorpc/v1alpha/submit"
	"github.com/utxorpc/go-codegen/utxorpc/v1alpha/submit/submitconnect"
	"github.com/utxorpc/go-codegen/utxorpc/v1alpha/sync"
	"github.com/utxorpc/go-codegen/utxorpc/v1alpha/sync/syncconnect"
	"github.com/utxorpc/go-codegen/utxorpc/v1alpha/watch"
	"github.com/utxorpc/go-codegen/utxorpc/v1alpha/watch/watchconnect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

type method func(ctx context.Context, request json.RawMessage, take int) (any, error)

// message is a pointer to a request of type T.
type message[T any] interface {
	*T
	proto.Message
}

func requestOf[T any, P message[T]](text json.RawMessage) (*connect.Request[T], error) {
	value := new(T)
	if err := protojson.Unmarshal(text, P(value)); err != nil {
		return nil, err
	}
	return connect.NewRequest(value), nil
}

func jsonOf(value proto.Message) (json.RawMessage, error) { return protojson.Marshal(value) }

func unary[T, U any, P message[T], Q message[U]](
	call func(context.Context, *connect.Request[T]) (*connect.Response[U], error),
) method {
	return func(ctx context.Context, text json.RawMessage, _ int) (any, error) {
		request, err := requestOf[T, P](text)
		if err != nil {
			return nil, err
		}
		answer, err := call(ctx, request)
		if err != nil {
			return nil, err
		}
		return jsonOf(Q(answer.Msg))
	}
}

func stream[T, U any, P message[T], Q message[U]](
	call func(context.Context, *connect.Request[T]) (*connect.ServerStreamForClient[U], error),
) method {
	return func(ctx context.Context, text json.RawMessage, take int) (any, error) {
		request, err := requestOf[T, P](text)
		if err != nil {
			return nil, err
		}
		messages, err := call(ctx, request)
		if err != nil {
			return nil, err
		}
		defer messages.Close()
		taken := []json.RawMessage{}
		for len(taken) < take && messages.Receive() {
			shown, err := jsonOf(Q(messages.Msg()))
			if err != nil {
				return nil, err
			}
			taken = append(taken, shown)
		}
		if len(taken) < take {
			return taken, messages.Err()
		}
		return taken, nil
	}
}

func methods(url string) map[string]method {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	grpc := connect.WithGRPC()
	queries := queryconnect.NewQueryServiceClient(client, url, grpc)
	submissions := submitconnect.NewSubmitServiceClient(client, url, grpc)
	chain := syncconnect.NewSyncServiceClient(client, url, grpc)
	watches := watchconnect.NewWatchServiceClient(client, url, grpc)
	return map[string]method{
		"ReadParams":     unary[query.ReadParamsRequest, query.ReadParamsResponse](queries.ReadParams),
		"ReadUtxos":      unary[query.ReadUtxosRequest, query.ReadUtxosResponse](queries.ReadUtxos),
		"SearchUtxos":    unary[query.SearchUtxosRequest, query.SearchUtxosResponse](queries.SearchUtxos),
		"ReadData":       unary[query.ReadDataRequest, query.ReadDataResponse](queries.ReadData),
		"ReadTx":         unary[query.ReadTxRequest, query.ReadTxResponse](queries.ReadTx),
		"ReadGenesis":    unary[query.ReadGenesisRequest, query.ReadGenesisResponse](queries.ReadGenesis),
		"ReadEraSummary": unary[query.ReadEraSummaryRequest, query.ReadEraSummaryResponse](queries.ReadEraSummary),
		"EvalTx":         unary[submit.EvalTxRequest, submit.EvalTxResponse](submissions.EvalTx),
		"SubmitTx":       unary[submit.SubmitTxRequest, submit.SubmitTxResponse](submissions.SubmitTx),
		"ReadMempool":    unary[submit.ReadMempoolRequest, submit.ReadMempoolResponse](submissions.ReadMempool),
		"WaitForTx":      stream[submit.WaitForTxRequest, submit.WaitForTxResponse](submissions.WaitForTx),
		"WatchMempool":   stream[submit.WatchMempoolRequest, submit.WatchMempoolResponse](submissions.WatchMempool),
		"ReadTip":        unary[sync.ReadTipRequest, sync.ReadTipResponse](chain.ReadTip),
		"FetchBlock":     unary[sync.FetchBlockRequest, sync.FetchBlockResponse](chain.FetchBlock),
		"DumpHistory":    unary[sync.DumpHistoryRequest, sync.DumpHistoryResponse](chain.DumpHistory),
		"FollowTip":      stream[sync.FollowTipRequest, sync.FollowTipResponse](chain.FollowTip),
		"WatchTx":        stream[watch.WatchTxRequest, watch.WatchTxResponse](watches.WatchTx),
	}
}

type call struct {
	Name string `json:"name"`
	Args struct {
		Request json.RawMessage `json:"request"`
		Take    int             `json:"take"`
	} `json:"args"`
}

func answer(all map[string]method, line []byte) map[string]any {
	var asked call
	if err := json.Unmarshal(line, &asked); err != nil {
		return map[string]any{"error": err.Error()}
	}
	run, known := all[asked.Name]
	if !known {
		return map[string]any{"error": "no method " + asked.Name}
	}
	if asked.Args.Request == nil {
		asked.Args.Request = json.RawMessage("{}")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	value, err := run(ctx, asked.Args.Request, asked.Args.Take)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"value": value}
}

func main() {
	var settings struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("PEER")), &settings); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	all := methods(settings.URL)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		shown, err := json.Marshal(answer(all, line))
		if err != nil {
			shown, _ = json.Marshal(map[string]any{"error": err.Error()})
		}
		fmt.Println(string(shown))
	}
}
