import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;

/** Run it by `java Program.java`. Java has no JSON of its own: in your program, take the library that you have. */
class Program {
  static final HttpClient HTTP = HttpClient.newHttpClient();
  static final String[] OWNER = {"Authorization", "Bearer " + System.getenv("OWNER_TOKEN")};

  static String call(String method, String path, BodyPublisher body, String... headers) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(System.getenv("POSTLANE_URL") + path)).method(method, body).headers(headers);
    return HTTP.send(request.timeout(Duration.ofSeconds(90)).build(), BodyHandlers.ofString()).body();
  }

  static String member(String name, String json) {
    var found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(json);
    return found.find() ? found.group(1) : "";
  }

  static String[] with(String name, String value) {
    return new String[] {OWNER[0], OWNER[1], name, value};
  }

  public static void main(String[] args) throws Exception {
    var mail = """
        {"to": "ann@example.com", "subject": "Your receipt", "text": "Thank you.",
         "category": "transactional", "source": "api:receipts", "idempotencyKey": "receipt/java"}""";
    var sent = call("POST", "/internal/send-email", BodyPublishers.ofString(mail),
        "X-Proxy-Secret", System.getenv("PROXY_SHARED_SECRET"), "Content-Type", "application/json");
    System.out.println("mail " + member("status", sent));

    var uploaded = call("POST", "/api/v1/files?name=report.pdf", BodyPublishers.ofFile(Path.of("report.pdf")), with("Content-Type", "application/pdf"));
    var file = member("id", uploaded);
    call("POST", "/api/v1/files/" + file + "/convert", BodyPublishers.noBody(), with("Idempotency-Key", "convert/" + file));
    System.out.println("file " + member("status", call("GET", "/api/v1/files/" + file + "?wait=60", BodyPublishers.noBody(), OWNER)));
    System.out.println(call("GET", "/api/v1/files/" + file + "/result?format=text", BodyPublishers.noBody(), OWNER));

    var refused = call("GET", "/api/v1/files/00000000-0000-4000-8000-000000000000", BodyPublishers.noBody(), OWNER);
    System.out.println("refused " + member("status", refused) + " " + member("code", refused) + " " + member("retryable", refused));
  }
}
