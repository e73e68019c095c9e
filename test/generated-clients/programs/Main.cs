using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using Newtonsoft.Json.Linq;
using Org.OpenAPITools.Api;
using Org.OpenAPITools.Client;
using Org.OpenAPITools.Model;

/// <summary>What a program does with the C# client of openapi-generator.</summary>
public static class Program
{
    static void Save(string name, FileParameter file)
    {
        using (var target = File.Create(Path.Combine(Environment.GetEnvironmentVariable("SAVE_IN"), name)))
            file.Content.CopyTo(target);
    }

    static string UntilEnded(Func<string> statusOf)
    {
        for (; ; )
        {
            var status = statusOf().ToLowerInvariant();
            if (status != "queued" && status != "processing") return status;
            Thread.Sleep(100);
        }
    }

    public static void Main()
    {
        var configuration = new Configuration
        {
            BasePath = Environment.GetEnvironmentVariable("PLATEN_URL"),
            ApiKey = new Dictionary<string, string> { ["X-API-Key"] = Environment.GetEnvironmentVariable("PLATEN_API_KEY") },
        };
        var rendering = new RenderingApi(configuration);
        var jobs = new JobsApi(configuration);
        var batches = new BatchesApi(configuration);

        var request = new RenderRequest(html: "<p>CSharp</p>");
        Save("render.pdf", rendering.RenderPdf(request));

        request.ExecutionMode = RenderRequest.ExecutionModeEnum.Async;
        var accepted = new StreamReader(rendering.RenderPdf(request).Content).ReadToEnd();
        var jobId = Guid.Parse((string)JObject.Parse(accepted)["jobId"]);
        Console.WriteLine("job " + UntilEnded(() => jobs.GetJob(jobId).Status.ToString()));

        request.Options = new RenderOptions(scale: 9);
        try
        {
            rendering.RenderPdf(request);
        }
        catch (ApiException failure)
        {
            var error = JObject.Parse(failure.ErrorContent.ToString());
            Console.WriteLine("error " + failure.ErrorCode + " " + error["code"] + " " + error["message"][0]);
        }

        var items = new[] { "a", "b" }.Select(id => new BatchItemInput(id: id, html: "<p>" + id + "</p>")).ToList();
        var batchId = batches.CreateBatch(new BatchRequest(items: items)).JobId;
        var ended = UntilEnded(() => batches.GetBatch(batchId).Status.ToString());
        Save("batch.zip", batches.DownloadBatchZip(batchId));
        Console.WriteLine("batch " + ended);
    }
}
