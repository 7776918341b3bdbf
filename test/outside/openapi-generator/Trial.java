import java.io.File;
import java.net.http.HttpRequest;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.openapitools.client.*;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

/** The whole path by the client that openapi-generator makes: a check a line, as JSON. */
public class Trial {
  static final String SOURCE = "api:walk";

  static void check(String name, boolean held, Object detail) throws Exception {
    var line = Map.of("name", name, "outcome", held ? "held" : "failed", "detail", String.valueOf(detail));
    System.out.println(ApiClient.createDefaultObjectMapper().writeValueAsString(line));
  }

  /** What the client makes of an answer: an exception is a check that failed, since the server has done its part. */
  static <A> Optional<A> tried(String name, Callable<A> call) throws Exception {
    try {
      return Optional.of(call.call());
    } catch (Exception error) {
      check(name, false, error);
      return Optional.empty();
    }
  }

  static Problem refused(Callable<?> call) throws Exception {
    try {
      call.call();
    } catch (ApiException refused) {
      return ApiClient.createDefaultObjectMapper().readValue(refused.getResponseBody(), Problem.class);
    }
    return new Problem();
  }

  static ApiClient client(String header, String value) {
    Consumer<HttpRequest.Builder> with = request -> request.header(header, value);
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("POSTLANE_URL"));
    return client.setRequestInterceptor(with);
  }

  static SendRequest mail(int n) {
    return new SendRequest()
      .to(List.of("ann@example.com"))
      .subject("Walk " + n)
      .text("Thank you.")
      .category(SendRequest.CategoryEnum.TRANSACTIONAL)
      .source(SOURCE)
      .idempotencyKey("walk/" + n);
  }

  static void mails() throws Exception {
    var relay = new SendingApi(client("X-Proxy-Secret", System.getenv("PROXY_SHARED_SECRET")));
    var first = relay.sendEmail(mail(1), null);
    check("a mail is sent", first.getStatus() == SendAnswer.StatusEnum.SENT, first);
    var again = relay.sendEmail(mail(1), null);
    check("with the same key it is the same mail", first.getSendId().equals(again.getSendId()), again);
    relay.sendEmail(mail(2), null);
    relay.sendEmail(mail(3), null);
    var now = OffsetDateTime.now();
    var later = "a mail for later is queued";
    var queued = tried(later, () -> relay.sendEmail(mail(4).sendAt(now.plusHours(1)), null));
    if (queued.isPresent()) check(later, queued.get().getStatus() == SendAnswer.StatusEnum.QUEUED && queued.get().getQueueId() != null && queued.get().getSendAt().isAfter(now), queued);
    var problem = refused(() -> relay.sendEmail(mail(5).to(List.of("nobody")), null));
    check("a refused mail names the field", problem.getCode() == ProblemCode.INVALID_REQUEST && !problem.getRetryable() && !problem.getIssues().isEmpty(), problem);
  }

  static ListEmailLogAnswer page(AdminApi admin, String status, LocalDate since, long limit, String cursor) throws Exception {
    return admin.listEmailLog(null, status, null, null, null, null, null, null, null, null, SOURCE, null, null, since, null, null, limit, cursor);
  }

  static void log() throws Exception {
    var admin = new AdminApi(client("Authorization", "Bearer " + System.getenv("ADMIN_TOKEN")));
    var sizes = new ArrayList<Integer>();
    var subjects = new TreeSet<String>();
    String cursor = null;
    do {
      var page = page(admin, null, null, 2, cursor);
      sizes.add(page.getRows().size());
      for (var row : page.getRows())
        if (row.getCreatedAt().isAfter(OffsetDateTime.now().minusHours(1))) subjects.add(row.getSubject());
      cursor = page.getNextCursor();
    } while (cursor != null);
    check("the log is paged", (sizes + " " + subjects).equals("[2, 1] [Walk 1, Walk 2, Walk 3]"), sizes + " " + subjects);
    var past = page(admin, "sent", LocalDate.now().minusDays(1), 50, null).getRows().size();
    var future = page(admin, "sent", LocalDate.now().plusDays(2), 50, null).getRows().size();
    check("and filtered by a day", past == 3 && future == 0, past + " and " + future);
  }

  static void documents() throws Exception {
    var files = new FilesApi(client("Authorization", "Bearer " + System.getenv("OWNER_TOKEN")));
    var file = files.uploadFile(new File("report.pdf"), "walk/report", null, "walk").getFile();
    check("a file is uploaded", file.getName().equals("report.pdf") && file.getPages() == 2, file);
    var id = UUID.fromString(file.getId());
    var problem = refused(() -> files.getResult(id, null, null));
    check("no result yet is a refusal with its code", problem.getCode() == ProblemCode.RESULT_NOT_READY && problem.getRetryable(), problem);
    var job = files.convertFile(id, null, new ConvertRequest()).getJob();
    for (var waits = 0; waits < 5 && (file.getLastJob() == null || file.getLastJob().getEndedAt() == null); waits++)
      file = files.getFile(id, 30L).getFile();
    check("the file is converted", file.getHasResult() && file.getLastJob().getId().equals(job.getId()), file);
    var signs = List.of(
      List.of("its result is text", "text", "Page number 2"),
      List.of("its result is HTML", "html", "<!doctype html>"),
      List.of("its result is Markdown", "markdown", "<!-- page 2 -->"),
      List.of("its result is data", "json", "\"blocks\""));
    for (var one : signs) {
      var result = tried(one.get(0), () -> files.getResult(id, one.get(1), null));
      if (result.isPresent()) check(one.get(0), result.get().contains(one.get(2)), result);
    }
  }

  public static void main(String[] args) throws Exception {
    mails();
    log();
    documents();
  }
}
