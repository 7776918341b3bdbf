// Resend's Go SDK against an installation: what it was answered, as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	resend "MODULE"
)

type fact = map[string]any

var mail = resend.SendEmailRequest{From: "Shop <shop@postlane.test>", To: []string{"ann@y.test"}, Text: "t"}

// What a call answered; of an error, what its user sees.
func asked(answer any, err error) fact {
	var tooFast *resend.RateLimitError
	if errors.As(err, &tooFast) {
		return fact{"kind": "RateLimitError", "message": tooFast.Message, "retryAfter": tooFast.RetryAfter, "remaining": tooFast.Remaining}
	}
	if err != nil {
		return fact{"message": err.Error()}
	}
	text, _ := json.Marshal(answer)
	found := fact{}
	_ = json.Unmarshal(text, &found)
	return found
}

func with(change func(*resend.SendEmailRequest)) *resend.SendEmailRequest {
	one := mail
	change(&one)
	return &one
}

func subject(text string) *resend.SendEmailRequest {
	return with(func(one *resend.SendEmailRequest) { one.Subject = text })
}

func main() {
	token, slow, at, later := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	ctx := context.Background()
	client := resend.NewClient(token)
	send := func(key string, one *resend.SendEmailRequest) fact {
		if key == "" {
			return asked(client.Emails.Send(one))
		}
		return asked(client.Emails.SendWithOptions(ctx, one, &resend.SendEmailOptions{IdempotencyKey: key}))
	}
	batch := func(key string, mode resend.BatchValidationMode, mails ...*resend.SendEmailRequest) fact {
		answer, err := client.Batch.SendWithOptions(ctx, mails, &resend.BatchSendEmailOptions{IdempotencyKey: key, BatchValidation: mode})
		if err != nil {
			return asked(nil, err)
		}
		ids := []string{}
		for _, one := range answer.Data {
			ids = append(ids, one.Id)
		}
		return fact{"ids": ids, "errors": answer.Errors}
	}
	bytes := make([]byte, 256)
	for at := range bytes {
		bytes[at] = byte(at)
	}
	whole := func(text string) *resend.SendEmailRequest {
		return with(func(one *resend.SendEmailRequest) {
			one.To = []string{"ann@y.test", "bob@y.test"}
			one.Cc, one.Bcc, one.ReplyTo = []string{"carl@y.test"}, []string{"dora@y.test"}, "help@x.test"
			one.Subject, one.Html = text, "<p>h &amp; é</p>"
			one.Headers = map[string]string{"X-Order": "17"}
			one.Tags = []resend.Tag{{Name: "campaign", Value: "c1"}}
			one.Attachments = []*resend.Attachment{
				{Filename: "all.bin", Content: bytes},
				{Filename: "l.png", Content: []byte{1, 2, 3}, ContentType: "image/png", ContentId: "logo"},
			}
		})
	}
	said := fact{}
	said["whole"] = send("whole", whole("whole <&> é"))
	said["wholeAgain"] = send("whole", whole("whole <&> é"))
	said["conflict"] = send("whole", whole("other"))
	said["batch"] = batch("pair", resend.BatchValidationStrict, subject("first of two"), subject("second of two"))
	said["batchAgain"] = batch("pair", resend.BatchValidationStrict, subject("first of two"), subject("second of two"))
	said["permissive"] = batch("some", resend.BatchValidationPermissive, subject("the good one"), subject(""))
	said["strict"] = batch("none", resend.BatchValidationStrict, subject("of a refused batch"), subject(""))
	said["words"] = send("", with(func(one *resend.SendEmailRequest) { one.Subject, one.ScheduledAt = "in words", "in 1 min" }))
	said["missing"] = send("missing", subject(""))
	// begin template
	said["template"] = send("", with(func(one *resend.SendEmailRequest) {
		one.Subject, one.Template = "of a template", &resend.EmailTemplate{Id: "welcome", Variables: map[string]any{"a": "b"}}
	}))
	// end template
	said["scheduled"] = send("later", with(func(one *resend.SendEmailRequest) { one.Subject, one.ScheduledAt = "for later", at }))
	planned, _ := said["scheduled"].(fact)["id"].(string)
	said["planned"] = asked(client.Emails.Get(planned))
	said["moved"] = asked(client.Emails.Update(&resend.UpdateEmailRequest{Id: planned, ScheduledAt: later}))
	said["movedTo"] = asked(client.Emails.Get(planned))
	said["cancelled"] = asked(client.Emails.Cancel(planned))
	said["planless"] = asked(client.Emails.Get(planned))
	said["unknown"] = asked(client.Emails.Get("00000000-0000-4000-8000-000000000000"))
	client = resend.NewClient(slow)
	said["slow"] = []fact{send("", subject("slow one")), send("", subject("slow two"))}
	client = resend.NewClient("pl_send_wrong")
	said["wrong"] = send("", subject("with a wrong token"))
	_ = json.NewEncoder(os.Stdout).Encode(said)
}
