require "json"
require "net/http"

def call(method, path, body = nil, headers = {})
  url = URI(ENV.fetch("POSTLANE_URL") + path)
  Net::HTTP.start(url.host, url.port, use_ssl: url.scheme == "https", read_timeout: 90) { |http| http.send_request(method, url.request_uri, body, headers) }
end

mail = { to: "ann@example.com", subject: "Your receipt", text: "Thank you.", category: "transactional", source: "api:receipts", idempotencyKey: "receipt/ruby" }
sent = call("POST", "/internal/send-email", mail.to_json, "X-Proxy-Secret" => ENV.fetch("PROXY_SHARED_SECRET"), "Content-Type" => "application/json")
puts "mail #{JSON.parse(sent.body)["status"]}"

owner = { "Authorization" => "Bearer #{ENV.fetch("OWNER_TOKEN")}" }
uploaded = call("POST", "/api/v1/files?name=report.pdf", File.binread("report.pdf"), owner.merge("Content-Type" => "application/pdf"))
file = JSON.parse(uploaded.body)["file"]["id"]
call("POST", "/api/v1/files/#{file}/convert", nil, owner.merge("Idempotency-Key" => "convert/#{file}"))
puts "file #{JSON.parse(call("GET", "/api/v1/files/#{file}?wait=60", nil, owner).body)["file"]["status"]}"
puts call("GET", "/api/v1/files/#{file}/result?format=text", nil, owner).body

refused = JSON.parse(call("GET", "/api/v1/files/00000000-0000-4000-8000-000000000000", nil, owner).body)
puts "refused #{refused["status"]} #{refused["code"]} #{refused["retryable"]}"
