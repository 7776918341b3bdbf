// The whole path by the client that oapi-codegen makes: a check a line, as JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/oapi-codegen/runtime/types"

	"example.com/shop/postlane"
)

var ctx = context.Background()

func check(name string, held bool, detail any) {
	outcome := map[bool]string{true: "held", false: "failed"}[held]
	line, _ := json.Marshal(map[string]string{"name": name, "outcome": outcome, "detail": fmt.Sprint(detail)})
	fmt.Println(string(line))
}

func must[A any](value A, err error) A {
	if err != nil {
		panic(err)
	}
	return value
}

func some[A any](value A) *A { return &value }

func client(header, value string) *postlane.ClientWithResponses {
	with := func(_ context.Context, request *http.Request) error {
		request.Header.Set(header, value)
		return nil
	}
	return must(postlane.NewClientWithResponses(os.Getenv("POSTLANE_URL"), postlane.WithRequestEditorFn(with)))
}

func mails() {
	relay := client("X-Proxy-Secret", os.Getenv("PROXY_SHARED_SECRET"))
	mail := func(n int) postlane.SendRequest {
		return postlane.SendRequest{
			To: []string{"ann@example.com"}, Subject: fmt.Sprint("Walk ", n), Text: some("Thank you."),
			Category: postlane.SendRequestCategoryTransactional, Source: "api:walk", IdempotencyKey: some(fmt.Sprint("walk/", n)),
		}
	}
	send := func(mail postlane.SendRequest) *postlane.SendEmailResponse {
		return must(relay.SendEmailWithResponse(ctx, &postlane.SendEmailParams{}, mail))
	}
	first := send(mail(1))
	check("a mail is sent", first.JSON200 != nil && first.JSON200.Status == postlane.SendAnswerStatusSent, string(first.Body))
	again := send(mail(1))
	check("with the same key it is the same mail", again.JSON200 != nil && *again.JSON200.SendId == *first.JSON200.SendId, string(again.Body))
	send(mail(2))
	send(mail(3))
	later := mail(4)
	later.SendAt = some(time.Now().Add(time.Hour))
	queued := send(later)
	check("a mail for later is queued", queued.JSON202 != nil && queued.JSON202.QueueId != nil && queued.JSON202.SendAt.After(time.Now()), string(queued.Body))
	wrong := mail(5)
	wrong.To = []string{"nobody"}
	problem := send(wrong).ApplicationproblemJSON400
	check("a refused mail names the field", problem != nil && problem.Code == postlane.INVALIDREQUEST && !problem.Retryable && len(*problem.Issues) > 0, problem)

	admin := client("Authorization", "Bearer "+os.Getenv("ADMIN_TOKEN"))
	query := &postlane.ListEmailLogParams{Source: some("api:walk"), Limit: some(int64(2))}
	var sizes []int
	subjects := map[string]bool{}
	for {
		page := must(admin.ListEmailLogWithResponse(ctx, query)).JSON200
		sizes = append(sizes, len(page.Rows))
		for _, row := range page.Rows {
			subjects[*row.Subject] = row.CreatedAt.After(time.Now().Add(-time.Hour))
		}
		if page.NextCursor == nil {
			break
		}
		query.Cursor = page.NextCursor
	}
	check("the log is paged", fmt.Sprint(sizes, subjects) == "[2 1] map[Walk 1:true Walk 2:true Walk 3:true]", fmt.Sprint(sizes, subjects))
	count := func(since time.Time) int {
		filter := &postlane.ListEmailLogParams{Status: some(postlane.ListEmailLogParamsStatusSent), Since: &types.Date{Time: since.UTC()}}
		return len(must(admin.ListEmailLogWithResponse(ctx, filter)).JSON200.Rows)
	}
	past, future := count(time.Now().AddDate(0, 0, -1)), count(time.Now().AddDate(0, 0, 2))
	check("and filtered by a day", past == 3 && future == 0, fmt.Sprint(past, " and ", future))
}

func documents() {
	owner := client("Authorization", "Bearer "+os.Getenv("OWNER_TOKEN"))
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	must(must(parts.CreateFormFile("file", "report.pdf")).Write(must(os.ReadFile("report.pdf"))))
	if err := parts.Close(); err != nil {
		panic(err)
	}
	params := &postlane.UploadFileParams{IdempotencyKey: some("walk/report"), Reference: some("walk")}
	uploaded := must(owner.UploadFileWithBodyWithResponse(ctx, params, parts.FormDataContentType(), &form))
	check("a file is uploaded", uploaded.JSON201 != nil && uploaded.JSON201.File.Name == "report.pdf" && uploaded.JSON201.File.Pages == 2, string(uploaded.Body))
	id := uuid.MustParse(uploaded.JSON201.File.Id)

	problem := must(owner.GetResultWithResponse(ctx, id, &postlane.GetResultParams{})).ApplicationproblemJSON404
	check("no result yet is a refusal with its code", problem != nil && problem.Code == postlane.RESULTNOTREADY && problem.Retryable, problem)

	started := must(owner.ConvertFileWithResponse(ctx, id, &postlane.ConvertFileParams{}, postlane.ConvertRequest{}))
	var file postlane.File
	for waits := 0; waits < 5 && (file.LastJob == nil || file.LastJob.EndedAt == nil); waits++ {
		file = must(owner.GetFileWithResponse(ctx, id, &postlane.GetFileParams{Wait: some(int64(30))})).JSON200.File
	}
	check("the file is converted", file.Status == postlane.FileStatusCompleted && file.HasResult && file.LastJob.Id == started.JSON202.Job.Id, fmt.Sprint(file))

	result := func(format postlane.GetResultParamsFormat) *postlane.GetResultResponse {
		return must(owner.GetResultWithResponse(ctx, id, &postlane.GetResultParams{Format: &format}))
	}
	for _, one := range []struct {
		name, sign string
		format     postlane.GetResultParamsFormat
	}{
		{"its result is text", "Page number 2", postlane.GetResultParamsFormatText},
		{"its result is HTML", "<!doctype html>", postlane.GetResultParamsFormatHtml},
		{"its result is Markdown", "<!-- page 2 -->", postlane.GetResultParamsFormatMarkdown},
	} {
		body := string(result(one.format).Body)
		check(one.name, strings.Contains(body, one.sign), body)
	}
	data := result(postlane.GetResultParamsFormatJson)
	check("its result is data", data.JSON200 != nil && data.JSON200.Blocks[len(data.JSON200.Blocks)-1].Page != nil && *data.JSON200.Blocks[len(data.JSON200.Blocks)-1].Page == 2, string(data.Body))
}

func main() {
	mails()
	documents()
}
