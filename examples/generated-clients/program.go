package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"example.com/shop/postlane"
)

// What the server refused, if it is that. The generated Model() knows no application/problem+json.
func problemOf(err error) (problem postlane.Problem, refused bool) {
	var answer *postlane.GenericOpenAPIError
	refused = errors.As(err, &answer) && json.Unmarshal(answer.Body(), &problem) == nil
	return
}

func check(err error) {
	if problem, refused := problemOf(err); refused {
		log.Fatal(problem.Code, ": ", problem.Detail)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	settings := postlane.NewConfiguration()
	settings.Servers = postlane.ServerConfigurations{{URL: os.Getenv("POSTLANE_URL")}}
	api := postlane.NewAPIClient(settings)

	relay := context.WithValue(context.Background(), postlane.ContextAPIKeys,
		map[string]postlane.APIKey{"proxySecret": {Key: os.Getenv("PROXY_SHARED_SECRET")}})
	mail := postlane.NewSendRequest([]string{"ann@example.com"}, "Your receipt", "transactional", "api:receipts")
	mail.SetText("Thank you.")
	mail.SetIdempotencyKey("receipt/17")
	sent, _, err := api.SendingAPI.SendEmail(relay).SendRequest(*mail).Execute()
	check(err)
	fmt.Println("mail", sent.Status)

	owner := context.WithValue(context.Background(), postlane.ContextAccessToken, os.Getenv("OWNER_TOKEN"))
	report, err := os.Open("report.pdf")
	check(err)
	uploaded, _, err := api.FilesAPI.UploadFile(owner).File(report).Execute()
	check(err)
	_, _, err = api.FilesAPI.ConvertFile(owner, uploaded.File.Id).ConvertRequest(*postlane.NewConvertRequest()).Execute()
	check(err)
	list, _, err := api.FilesAPI.ListFiles(owner).Execute()
	check(err)
	for _, file := range list.Files {
		fmt.Println("file", file.Name, file.Status)
	}

	_, _, err = api.FilesAPI.GetResult(owner, uploaded.File.Id).Execute()
	if problem, refused := problemOf(err); refused {
		fmt.Println("refused", problem.Status, problem.Code, problem.Retryable)
	}
}
