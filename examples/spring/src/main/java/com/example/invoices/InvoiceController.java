package com.example.invoices;

import java.io.IOException;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClientResponseException;

@RestController
public class InvoiceController {
  private static final Logger LOG = LoggerFactory.getLogger(InvoiceController.class);

  private final Platen platen;
  private final String callbackUrl;

  public InvoiceController(Platen platen, @Value("${CALLBACK_URL:#{null}}") String callbackUrl) {
    this.platen = platen;
    this.callbackUrl = callbackUrl;
  }

  @GetMapping("/invoices/{number}")
  public ResponseEntity<byte[]> show(@PathVariable int number) throws IOException, InterruptedException {
    return ResponseEntity.ok().contentType(MediaType.APPLICATION_PDF).body(platen.render(invoice(number)));
  }

  @PostMapping("/invoices/{number}")
  public ResponseEntity<Map<String, String>> order(@PathVariable int number) throws IOException {
    String jobId = platen.submit(invoice(number), "invoice-" + number, callbackUrl);
    return ResponseEntity.accepted().body(Map.of("jobId", jobId));
  }

  @ExceptionHandler
  public ResponseEntity<Map<String, Object>> failed(RestClientResponseException error) {
    LOG.error("{}", error.getResponseBodyAsString());
    Object code = error.getResponseBodyAs(Map.class).get("code");
    return ResponseEntity.status(502).body(Map.of("error", "The PDF could not be made.", "code", String.valueOf(code)));
  }

  private static Map<String, Object> invoice(int number) {
    return Map.of("html", "<h1>Invoice " + number + "</h1>", "filename", "invoice-" + number + ".pdf");
  }
}
