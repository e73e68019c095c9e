// What a program does with the client of oapi-codegen. It is compiled beside that package.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	platen "platen.test/generated/client"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func save(name string, bytes []byte) {
	must(0, os.WriteFile(filepath.Join(os.Getenv("SAVE_IN"), name), bytes, 0o600))
}

func pointer[T any](value T) *T { return &value }

func main() {
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", os.Getenv("PLATEN_API_KEY"))
		return nil
	}
	client := must(platen.NewClientWithResponses(os.Getenv("PLATEN_URL"), platen.WithRequestEditorFn(withKey)))
	ctx := context.Background()

	request := platen.RenderRequest{Html: pointer("<p>Go</p>")}
	pdf := must(client.RenderPdfWithResponse(ctx, nil, request))
	save("render.pdf", pdf.Body)

	request.ExecutionMode = pointer(platen.RenderRequestExecutionMode("async"))
	job := must(client.RenderPdfWithResponse(ctx, nil, request)).JSON202
	status := string(job.Status)
	for status == "queued" || status == "processing" {
		time.Sleep(100 * time.Millisecond)
		status = string(must(client.GetJobWithResponse(ctx, job.JobId)).JSON200.Status)
	}
	fmt.Println("job", status)

	request.Options = &platen.RenderOptions{Scale: pointer(float32(9))}
	failure := must(client.RenderPdfWithResponse(ctx, nil, request))
	messages := must(failure.JSON400.Message.AsErrorMessage1())
	fmt.Println("error", failure.StatusCode(), failure.JSON400.Code, messages[0])

	var items []platen.BatchItemInput
	for _, id := range []string{"a", "b"} {
		items = append(items, platen.BatchItemInput{Id: id, Html: pointer("<p>" + id + "</p>")})
	}
	id := must(client.CreateBatchWithResponse(ctx, nil, platen.BatchRequest{Items: items})).JSON202.JobId
	status = "queued"
	for status == "queued" || status == "processing" {
		time.Sleep(100 * time.Millisecond)
		status = string(must(client.GetBatchWithResponse(ctx, id, nil)).JSON200.Status)
	}
	zip := must(client.DownloadBatchZipWithResponse(ctx, id, nil))
	save("batch.zip", zip.Body)
	fmt.Println("batch", status)
}
