package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

func call(method, path string, body []byte, headers ...string) []byte {
	request, err := http.NewRequest(method, os.Getenv("POSTLANE_URL")+path, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	return read
}

// What of an answer is of use here: a send, a file, or a problem.
type answer struct {
	Status    any
	File      struct{ Id, Status string }
	Code      string
	Retryable bool
}

func read(body []byte) (found answer) {
	if err := json.Unmarshal(body, &found); err != nil {
		log.Fatal(err)
	}
	return
}

func main() {
	mail := `{"to": "ann@example.com", "subject": "Your receipt", "text": "Thank you.",
		"category": "transactional", "source": "api:receipts", "idempotencyKey": "receipt/go"}`
	sent := call("POST", "/internal/send-email", []byte(mail), "X-Proxy-Secret", os.Getenv("PROXY_SHARED_SECRET"), "Content-Type", "application/json")
	fmt.Println("mail", read(sent).Status)

	auth, token := "Authorization", "Bearer "+os.Getenv("OWNER_TOKEN")
	pdf, err := os.ReadFile("report.pdf")
	if err != nil {
		log.Fatal(err)
	}
	file := read(call("POST", "/api/v1/files?name=report.pdf", pdf, auth, token, "Content-Type", "application/pdf")).File.Id
	call("POST", "/api/v1/files/"+file+"/convert", nil, auth, token, "Idempotency-Key", "convert/"+file)
	fmt.Println("file", read(call("GET", "/api/v1/files/"+file+"?wait=60", nil, auth, token)).File.Status)
	fmt.Println(string(call("GET", "/api/v1/files/"+file+"/result?format=text", nil, auth, token)))

	refused := read(call("GET", "/api/v1/files/00000000-0000-4000-8000-000000000000", nil, auth, token))
	fmt.Println("refused", refused.Status, refused.Code, refused.Retryable)
}
