// The whole path by the client that openapi-generator makes: a check a line, as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"example.com/shop/postlane"
)

const source = "api:walk"

func check(name string, held bool, detail any) {
	outcome := map[bool]string{true: "held", false: "failed"}[held]
	line, _ := json.Marshal(map[string]string{"name": name, "outcome": outcome, "detail": fmt.Sprint(detail)})
	fmt.Println(string(line))
}

// must takes what each call of the client gives: its answer, the response and an error.
func must[A, B any](value A, _ B, err error) A {
	if err != nil {
		panic(err)
	}
	return value
}

func refused(err error) (problem postlane.Problem) {
	var answer *postlane.GenericOpenAPIError
	if errors.As(err, &answer) {
		_ = json.Unmarshal(answer.Body(), &problem)
	}
	return
}

func bearer(name string) context.Context {
	return context.WithValue(context.Background(), postlane.ContextAccessToken, os.Getenv(name))
}

func mails(api *postlane.APIClient) {
	relay := context.WithValue(context.Background(), postlane.ContextAPIKeys,
		map[string]postlane.APIKey{"proxySecret": {Key: os.Getenv("PROXY_SHARED_SECRET")}})
	mail := func(n int) *postlane.SendRequest {
		mail := postlane.NewSendRequest([]string{"ann@example.com"}, fmt.Sprint("Walk ", n), "transactional", source)
		mail.SetText("Thank you.")
		mail.SetIdempotencyKey(fmt.Sprint("walk/", n))
		return mail
	}
	send := func(mail *postlane.SendRequest) (*postlane.SendAnswer, error) {
		answer, _, err := api.SendingAPI.SendEmail(relay).SendRequest(*mail).Execute()
		return answer, err
	}
	first, err := send(mail(1))
	check("a mail is sent", err == nil && first.Status == "sent", err)
	again, err := send(mail(1))
	check("with the same key it is the same mail", err == nil && again.GetSendId() == first.GetSendId(), err)
	for _, n := range []int{2, 3} {
		if _, err := send(mail(n)); err != nil {
			panic(err)
		}
	}
	later := mail(4)
	later.SetSendAt(time.Now().Add(time.Hour))
	queued, err := send(later)
	check("a mail for later is queued", err == nil && queued.Status == "queued" && queued.GetQueueId() != "" && queued.GetSendAt().After(time.Now()), err)
	wrong := mail(5)
	wrong.To = []string{"nobody"}
	_, err = send(wrong)
	problem := refused(err)
	check("a refused mail names the field", problem.Code == postlane.PROBLEMCODE_INVALID_REQUEST && !problem.Retryable && len(problem.Issues) > 0, err)
}

func log(api *postlane.APIClient) {
	query := api.AdminAPI.ListEmailLog(bearer("ADMIN_TOKEN")).Source(source)
	var sizes []int
	subjects := map[string]bool{}
	for next := query.Limit(2); ; {
		page := must(next.Execute())
		sizes = append(sizes, len(page.Rows))
		for _, row := range page.Rows {
			subjects[*row.Subject.Get()] = row.CreatedAt.After(time.Now().Add(-time.Hour))
		}
		if page.NextCursor.Get() == nil {
			break
		}
		next = next.Cursor(*page.NextCursor.Get())
	}
	said := fmt.Sprint(sizes, subjects)
	check("the log is paged", said == "[2 1] map[Walk 1:true Walk 2:true Walk 3:true]", said)
	count := func(days int) int {
		day := time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly)
		return len(must(query.Status("sent").Since(day).Execute()).Rows)
	}
	past, future := count(-1), count(2)
	check("and filtered by a day", past == 3 && future == 0, fmt.Sprint(past, " and ", future))
}

func documents(api *postlane.APIClient) {
	owner := bearer("OWNER_TOKEN")
	report, err := os.Open("report.pdf")
	if err != nil {
		panic(err)
	}
	file := must(api.FilesAPI.UploadFile(owner).File(report).IdempotencyKey("walk/report").Reference("walk").Execute()).File
	check("a file is uploaded", file.Name == "report.pdf" && file.Pages == 2, file.Name)
	_, _, err = api.FilesAPI.GetResult(owner, file.Id).Execute()
	problem := refused(err)
	check("no result yet is a refusal with its code", problem.Code == postlane.PROBLEMCODE_RESULT_NOT_READY && problem.Retryable, err)
	job := must(api.FilesAPI.ConvertFile(owner, file.Id).ConvertRequest(*postlane.NewConvertRequest()).Execute()).Job
	hasEnded := func() bool { return file.LastJob.Get() != nil && file.LastJob.Get().EndedAt.Get() != nil }
	for waits := 0; waits < 5 && !hasEnded(); waits++ {
		file = must(api.FilesAPI.GetFile(owner, file.Id).Wait(30).Execute()).File
	}
	check("the file is converted", file.Status == "completed" && file.HasResult && file.LastJob.Get().Id == job.Id, file.Status)
	for _, one := range []struct{ name, format, sign string }{
		{"its result is text", "text", "Page number 2"},
		{"its result is HTML", "html", "<!doctype html>"},
		{"its result is Markdown", "markdown", "<!-- page 2 -->"},
		{"its result is data", "json", `"blocks"`},
	} {
		result, _, err := api.FilesAPI.GetResult(owner, file.Id).Format(one.format).Execute()
		check(one.name, err == nil && strings.Contains(result, one.sign), fmt.Sprint(err, result))
	}
}

func main() {
	settings := postlane.NewConfiguration()
	settings.Servers = postlane.ServerConfigurations{{URL: os.Getenv("POSTLANE_URL")}}
	api := postlane.NewAPIClient(settings)
	mails(api)
	log(api)
	documents(api)
}
