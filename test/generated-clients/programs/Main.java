import java.io.File;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.api.BatchesApi;
import org.openapitools.client.api.JobsApi;
import org.openapitools.client.api.RenderingApi;
import org.openapitools.client.model.AcceptedJob;
import org.openapitools.client.model.Batch;
import org.openapitools.client.model.BatchItemInput;
import org.openapitools.client.model.BatchRequest;
import org.openapitools.client.model.JobRecord;
import org.openapitools.client.model.RenderOptions;
import org.openapitools.client.model.RenderRequest;

/** What a program does with the Java client of openapi-generator. */
public class Main {
  static void save(String name, File file) throws Exception {
    Files.copy(file.toPath(), Path.of(System.getenv("SAVE_IN"), name));
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("PLATEN_URL"));
    client.setApiKey(System.getenv("PLATEN_API_KEY"));
    client.setReadTimeout(120_000);
    RenderingApi rendering = new RenderingApi(client);
    JobsApi jobs = new JobsApi(client);
    BatchesApi batches = new BatchesApi(client);

    RenderRequest request = new RenderRequest().html("<p>Java</p>");
    save("render.pdf", rendering.renderPdf(request, null));

    request.executionMode(RenderRequest.ExecutionModeEnum.ASYNC);
    File accepted = rendering.renderPdf(request, null);
    UUID jobId = AcceptedJob.fromJson(Files.readString(accepted.toPath())).getJobId();
    JobRecord job = jobs.getJob(jobId);
    while (!job.getOutputAvailable() && !job.getDeadLettered()) {
      Thread.sleep(100);
      job = jobs.getJob(jobId);
    }
    System.out.println("job " + job.getStatus());

    request.options(new RenderOptions().scale(new BigDecimal(9)));
    try {
      rendering.renderPdf(request, null);
    } catch (ApiException failure) {
      org.openapitools.client.model.Error error =
          org.openapitools.client.model.Error.fromJson(failure.getResponseBody());
      String message = error.getMessage().getListString().get(0);
      System.out.println("error " + failure.getCode() + " " + error.getCode() + " " + message);
    }

    BatchRequest ordered = new BatchRequest();
    for (String id : new String[] {"a", "b"})
      ordered.addItemsItem(new BatchItemInput().id(id).html("<p>" + id + "</p>"));
    UUID batchId = batches.createBatch(ordered, null).getJobId();
    Batch batch = batches.getBatch(batchId, null, null);
    while (batch.getCompletedAt() == null) {
      Thread.sleep(100);
      batch = batches.getBatch(batchId, null, null);
    }
    save("batch.zip", batches.downloadBatchZip(batchId, null, null));
    System.out.println("batch " + batch.getStatus());
    System.exit(0);
  }
}
