package com.example.invoices;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.web.client.RestClient;

/** Renders documents. PLATEN_URL, PLATEN_API_KEY: the service. */
@Service
public class Platen {
  private static final int POLLS = 240;
  private static final int PAUSE_MS = 250;

  private final RestClient http;
  private final ObjectMapper json;

  public Platen(
      RestClient.Builder builder,
      ObjectMapper json,
      @Value("${PLATEN_URL}") String url,
      @Value("${PLATEN_API_KEY}") String key) {
    this.http = builder.baseUrl(url).defaultHeader("X-API-Key", key).build();
    this.json = json;
  }

  /**
   * Renders a document, and waits for it.
   *
   * @param document html, url or templateId with data; filename; options.
   * @return the PDF.
   * @throws org.springframework.web.client.RestClientResponseException when the service rejects the request, or the
   *     document cannot be rendered.
   */
  public byte[] render(Map<String, Object> document) throws IOException, InterruptedException {
    ResponseEntity<byte[]> response = post(document, UUID.randomUUID().toString());
    if (response.getStatusCode().value() == 200) return response.getBody();
    // 202: it takes longer than the service waits, and goes on as a job.
    String jobId = jobOf(response).jobId();
    for (int poll = 0; poll < POLLS; poll++) {
      Thread.sleep(PAUSE_MS);
      Job job = http.get().uri("/v1/pdf/jobs/{id}", jobId).retrieve().body(Job.class);
      if (!Set.of("queued", "processing").contains(job.status())) return file(jobId);
    }
    throw new IOException("Job " + jobId + " takes longer than a minute.");
  }

  /**
   * Has a document rendered in the background.
   *
   * @param idempotencyKey names the document: the same key never renders it twice within 24 hours.
   * @param callbackUrl where the callback goes when it has ended; null for none.
   * @return the id of the job.
   */
  public String submit(Map<String, Object> document, String idempotencyKey, String callbackUrl)
      throws IOException {
    Map<String, Object> request = new HashMap<>(document);
    request.put("executionMode", "async");
    if (callbackUrl != null) request.put("webhookUrl", callbackUrl);
    return jobOf(post(request, idempotencyKey)).jobId();
  }

  /** The PDF of a job that has ended; if the job has failed, its error is thrown. */
  public byte[] file(String jobId) {
    return http.get().uri("/v1/pdf/jobs/{id}/file", jobId).retrieve().body(byte[].class);
  }

  private ResponseEntity<byte[]> post(Map<String, Object> request, String idempotencyKey) {
    return http.post()
        .uri("/v1/pdf")
        .header("Idempotency-Key", idempotencyKey)
        .contentType(MediaType.APPLICATION_JSON)
        .body(request)
        .retrieve()
        .toEntity(byte[].class);
  }

  private Job jobOf(ResponseEntity<byte[]> response) throws IOException {
    return json.readValue(response.getBody(), Job.class);
  }

  private record Job(String jobId, String status) {}
}
