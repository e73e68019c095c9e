package com.example.invoices;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class CallbackController {
  private static final Logger LOG = LoggerFactory.getLogger(CallbackController.class);
  private static final long MAX_AGE_SECONDS = 300;

  private final String secret;

  /** PLATEN_WEBHOOK_SECRET: from POST /user/webhook-keys/rotate. */
  public CallbackController(@Value("${PLATEN_WEBHOOK_SECRET}") String secret) {
    this.secret = secret;
  }

  /** The body is read as bytes, as it arrived: the signature covers exactly those. */
  @PostMapping("/callbacks")
  public ResponseEntity<Void> receive(@RequestBody byte[] body, @RequestHeader HttpHeaders headers)
      throws GeneralSecurityException {
    if (!isSigned(body, headers)) return ResponseEntity.badRequest().build();
    LOG.info("{}", new String(body, StandardCharsets.UTF_8));
    return ResponseEntity.noContent().build();
  }

  private boolean isSigned(byte[] body, HttpHeaders headers) throws GeneralSecurityException {
    String timestamp = text(headers, "X-Service-Timestamp");
    if (!timestamp.matches("\\d{1,12}")) return false;
    if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > MAX_AGE_SECONDS) return false;
    byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    mac.update((text(headers, "X-Service-Delivery-Id") + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    String expected = "v2," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    // While a key is being rotated there are two signatures.
    for (String given : text(headers, "X-Service-Signature-V2").split(" "))
      if (MessageDigest.isEqual(expected.getBytes(), given.getBytes())) return true;
    return false;
  }

  private static String text(HttpHeaders headers, String name) {
    String value = headers.getFirst(name);
    return value == null ? "" : value;
  }
}
