// What a program does with the Go client of openapi-generator. It is compiled beside that package.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	platen "platen.test/generated"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func save(name string, file *os.File) {
	must(file.Seek(0, io.SeekStart))
	target := must(os.Create(filepath.Join(os.Getenv("SAVE_IN"), name)))
	must(io.Copy(target, file))
	must(0, target.Close())
}

func main() {
	configuration := platen.NewConfiguration()
	configuration.Servers = platen.ServerConfigurations{{URL: os.Getenv("PLATEN_URL")}}
	client := platen.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), platen.ContextAPIKeys, map[string]platen.APIKey{
		"apiKey": {Key: os.Getenv("PLATEN_API_KEY")},
	})

	request := platen.NewRenderRequest()
	request.SetHtml("<p>Go</p>")
	pdf, _, err := client.RenderingAPI.RenderPdf(ctx).RenderRequest(*request).Execute()
	save("render.pdf", must(pdf, err))

	request.SetExecutionMode("async")
	accepted, _, err := client.RenderingAPI.RenderPdf(ctx).RenderRequest(*request).Execute()
	var job platen.AcceptedJob
	must(must(accepted, err).Seek(0, io.SeekStart))
	must(0, json.NewDecoder(accepted).Decode(&job))
	status := job.Status
	for status == "queued" || status == "processing" {
		time.Sleep(100 * time.Millisecond)
		record, _, err := client.JobsAPI.GetJob(ctx, job.JobId).Execute()
		status = must(record, err).Status
	}
	fmt.Println("job", status)

	options := platen.NewRenderOptions()
	options.SetScale(9)
	request.SetOptions(*options)
	_, response, err := client.RenderingAPI.RenderPdf(ctx).RenderRequest(*request).Execute()
	var failure *platen.GenericOpenAPIError
	errors.As(err, &failure)
	body := failure.Model().(platen.Error)
	fmt.Println("error", response.StatusCode, body.Code, (*body.Message.ArrayOfString)[0])

	var items []platen.BatchItemInput
	for _, id := range []string{"a", "b"} {
		item := platen.NewBatchItemInput(id)
		item.SetHtml("<p>" + id + "</p>")
		items = append(items, *item)
	}
	ordered, _, err := client.BatchesAPI.CreateBatch(ctx).BatchRequest(*platen.NewBatchRequest(items)).Execute()
	id := must(ordered, err).JobId
	status = "queued"
	for status == "queued" || status == "processing" {
		time.Sleep(100 * time.Millisecond)
		batch, _, err := client.BatchesAPI.GetBatch(ctx, id).Execute()
		status = must(batch, err).Status
	}
	zip, _, err := client.BatchesAPI.DownloadBatchZip(ctx, id).Execute()
	save("batch.zip", must(zip, err))
	fmt.Println("batch", status)
}
