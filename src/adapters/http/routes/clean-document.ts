/**
 * The OpenAPI document as clients in other languages want it, made from the one that the definition gives: what a generator would make
 * numbered types, texts or constants of is named, typed and open. The requests and answers are the same.
 */
import { withoutForms, withoutSingle, withOneAnswer } from "./document-forms.ts"
import { isNode, type Json, mapped, type Node, nodes, REF, textOf, without } from "./document-nodes.ts"
import { REQUEST_EXAMPLES } from "./request-examples.ts"
import { asked, open, taken } from "./request-schemas.ts"

/** What an operation is called by its clients, where the definition's own name is no verb, or is not known outside its group. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ["sending.internal", "sendEmail"],
  ["sending.email", "sendEmailAsAdmin"],
  ["receipts.receipt", "sendReceipt"],
  ["health.health", "getHealth"],
  ["health.ready", "getReadiness"],
  ["health.metrics", "getMetrics"],
  ["health.openapi", "getOpenApi"],
  ["admin.emailLog", "listEmailLog"],
  ["admin.emailLogCount", "countEmailLog"],
  ["admin.emailLogCsv", "exportEmailLog"],
  ["admin.emailLogCounts", "countEmailLogByStatus"],
  ["admin.mailStory", "getMailStory"],
  ["mailLinks.make", "makeMailLink"],
  ["customerMail.show", "showCustomerMail"],
  ["admin.deadLetters", "listDeadLetters"],
  ["admin.redrive", "redriveDeadLetter"],
  ["auditLog.auditLog", "listAuditLog"],
  ["contactMessages.contactMessages", "listContactMessages"],
  ["alerts.raise", "raiseAlert"],
  ["stats.emailStats", "getEmailStats"],
  ["stats.emailStatsCsv", "exportEmailStats"],
  ["webhook.providerA", "receiveProviderAEvent"],
  ["webhook.postmark", "receivePostmarkEvent"],
  ["eventBus.providerB", "receiveProviderBEvents"],
  ["eventPoll.poll", "pollProviderA"],
  ["forms.contact", "sendContactMessage"],
  ["forms.feedback", "sendFeedback"],
  ["team.invite", "inviteToTeam"],
  ["digest.auditDigest", "sendAuditDigest"],
  ["unsubscribe.show", "showUnsubscribe"],
  ["convertEmail.convertEmailHealth", "getConvertEmailHealth"],
  ["convertEmail.convertEmailResult", "getConvertEmailResult"],
  ["convertEmailTest.convertEmailTestSend", "sendConvertEmailTest"],
  ["incomingMails.incomingMails", "listIncomingMails"],
  ["pipeline.pipelinePages", "countPipelinePages"],
  ["pipeline.pipelineConvert", "convertInPipeline"],
  ["jobs.jobs", "listJobs"],
  ["jobs.document", "getDocumentReport"],
  ["jobs.costs", "getCosts"],
  ["jobs.otherWork", "listOtherJobs"],
  ["preferences.preferences", "getPreferences"],
  ["eventHooks.eventHookDeliveries", "listEventHookDeliveries"],
  ["embedded.page", "showDevPage"],
  ["embedded.outbox", "listOutbox"],
  ["embedded.message", "getOutboxMessage"],
  ["embedded.removeMessage", "removeOutboxMessage"],
  ["senderDomain.look", "getSenderDomain"],
  ["links.tryLinks", "tryMessageLinks"],
  ["embedded.outboxChanges", "streamOutbox"],
  ["embedded.simulate", "simulateProvider"],
  ["templates.templates", "listTemplates"],
  ["templates.template", "showTemplate"],
  ["templates.components", "showComponents"],
  ["reader.messagePage", "showMessage"],
  ["reader.messageHtml", "getMessageHtml"],
  ["reader.messageContent", "getMessageContent"],
  ["reader.messageAccessibility", "getMessageAccessibility"],
  ["reader.messageFile", "getMessageFile"]
])

const verbOf = (operation: string): string =>
  VERBS.get(operation) ?? operation.slice(operation.indexOf(".") + 1)

/** Headers of a vendor's signature. The raw request is verified, so that the definition does not name them. */
const SIGNED_WITH: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["receiveProviderAEvent", ["svix-id", "svix-timestamp", "svix-signature"]]
])

const signatureOf = (verb: string): ReadonlyArray<Node> =>
  (SIGNED_WITH.get(verb) ?? []).map((name) => ({
    name,
    in: "header",
    required: false,
    schema: { type: "string" }
  }))

/** Members that are moments in ISO 8601, and ids of our own: every one of that name is. */
const MOMENT = /(?:At|_at|leaseUntil)$/
const UUID = /^(?:sendId|fileId|jobId|customerId|mailId|bulkId)$/

const formatOf = (name: string): string | undefined =>
  MOMENT.test(name) ? "date-time" : UUID.test(name) ? "uuid" : undefined

/** Filters by day, in queries. */
const DAY = new Set(["since", "until"])

/** The schema of a member, with the format that its name implies. */
const formatted = (schema: Json, name: string): Json => {
  const format = formatOf(name)
  if (!isNode(schema) || format === undefined) return schema
  if (schema["anyOf"] !== undefined)
    return { ...schema, anyOf: nodes(schema["anyOf"]).map((one) => formatted(one, name)) }
  return schema["type"] === "string" && schema["format"] === undefined && schema["enum"] === undefined
    ? { ...schema, format }
    : schema
}

/** `limit` comes as text; what the text has to be is its only further schema. */
const ofText = (schema: Node): Node => {
  const [more] = nodes(schema["allOf"])
  return more?.["type"] === "integer" ? { ...without(schema, "allOf", "type"), ...more } : schema
}

const isBlank = ({ enum: values }: Node) => Array.isArray(values) && values.length === 1 && values[0] === ""

/** Removes the empty text from a filter's values: it counts as missing, and no client has to send it. */
const withoutBlank = (schema: Node): Node => {
  const { anyOf, enum: values } = schema
  if (anyOf !== undefined) {
    const rest = nodes(anyOf).filter((one) => !isBlank(one))
    const [only] = rest
    return only !== undefined && rest.length === 1
      ? { ...ofText(only), ...without(schema, "anyOf") }
      : { ...schema, anyOf: rest }
  }
  return Array.isArray(values) && values.length > 1
    ? { ...schema, enum: values.filter((value) => value !== "") }
    : ofText(schema)
}

/** Bounds that every whole number has say nothing. */
const numeric = (schema: Node): Node =>
  without(
    schema["type"] === "integer" ? { format: "int64", ...schema } : { format: "double", ...schema },
    ...(schema["minimum"] === Number.MIN_SAFE_INTEGER ? ["minimum"] : []),
    ...(schema["maximum"] === Number.MAX_SAFE_INTEGER ? ["maximum"] : [])
  )

const schemaOf = (given: Node): Node => {
  const schema = withoutForms(withoutSingle(given))
  const { additionalProperties, anyOf, items, properties } = schema
  const whole: Node = {
    ...schema,
    ...(anyOf === undefined ? {} : { anyOf: nodes(anyOf).map(schemaOf) }),
    ...(isNode(items) ? { items: schemaOf(items) } : {}),
    ...(isNode(properties)
      ? {
          properties: mapped(properties, (one, name) => formatted(isNode(one) ? schemaOf(one) : one, name))
        }
      : {}),
    ...(isNode(additionalProperties) ? { additionalProperties: schemaOf(additionalProperties) } : {})
  }
  // Generators write JSON's `true` into languages that have no such word, and refuse an answer that they did not expect.
  if (whole["type"] === "boolean") return without(whole, "enum")
  return whole["type"] === "integer" || whole["type"] === "number" ? numeric(whole) : whole
}

const parameterOf = (schema: Node, name: string): Json => {
  const one = schemaOf(withoutBlank(schema))
  return DAY.has(name) ? { ...one, format: "date" } : formatted(one, name)
}

/** The answers that have no name get that of their operation: `ListFilesAnswer`, and not the twentieth inline object. */
interface Named {
  readonly answers: Map<string, Json>
  /** The document's schemas as the definition gives them. */
  readonly schemas: Node
}

const RETRY_AFTER: Json = {
  "Retry-After": {
    description: "Seconds until the request may be sent again.",
    required: true,
    schema: { type: "integer", format: "int64", minimum: 1 }
  }
}

const PROBLEM = "application/problem+json"

/** Of bodies that a request may have either way: JSON, where a browser's page sends a form; and the form, where the other is bytes. */
const ofRequest = (content: Node): Node => {
  const type = ["application/json", "multipart/form-data"].find((one) => content[one] !== undefined)
  return type === undefined ? content : { [type]: content[type] ?? null }
}

const contentOf = (content: Node, verb: string, { answers }: Named): Node =>
  mapped(content, (media, type) => {
    if (type === PROBLEM) return { schema: { $ref: `${REF}Problem` } }
    if (!isNode(media) || !isNode(media["schema"])) return media
    const schema = schemaOf(media["schema"])
    if (type !== "application/json" || schema["properties"] === undefined) return { ...media, schema }
    const name = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}Answer`
    answers.set(name, schema)
    return { ...media, schema: { $ref: `${REF}${name}` } }
  })

const exampleOf = (verb: string, type: string): Node => {
  const example = type === "application/json" ? REQUEST_EXAMPLES.get(verb) : undefined
  return example === undefined ? {} : { example }
}

/** The codes that a refusal may have, before what they mean. */
const refusalOf = ({ content, description }: Node, { schemas }: Named): Node => {
  const media = isNode(content) ? content[PROBLEM] : undefined
  const schema = isNode(media) ? media["schema"] : undefined
  if (!isNode(schema)) return {}
  const codes = [schema, ...nodes(schema["anyOf"])].flatMap(({ $ref }) => {
    const problem = schemas[textOf($ref).slice(REF.length)]
    const code = isNode(problem) && isNode(problem["properties"]) ? problem["properties"]["code"] : undefined
    return isNode(code) && Array.isArray(code["enum"]) ? (code["enum"] as ReadonlyArray<string>) : []
  })
  return { description: `${codes.map((code) => `\`${code}\``).join(", ")}: ${textOf(description)}` }
}

const operationOf = (operation: Node, named: Named): Node => {
  const { operationId, parameters, requestBody, responses } = operation
  const verb = verbOf(textOf(operationId))
  const body =
    isNode(requestBody) && isNode(requestBody["content"])
      ? {
          requestBody: {
            ...requestBody,
            content: mapped(ofRequest(requestBody["content"]), (media, type) =>
              isNode(media) && isNode(media["schema"])
                ? { ...media, schema: taken(schemaOf(media["schema"])), ...exampleOf(verb, type) }
                : media
            )
          }
        }
      : {}
  return {
    ...operation,
    operationId: verb,
    parameters: nodes(parameters)
      .map((one) => ({
        ...one,
        ...(isNode(one["schema"]) ? { schema: parameterOf(one["schema"], textOf(one["name"])) } : {})
      }))
      .concat(signatureOf(verb)),
    ...body,
    responses: mapped(isNode(responses) ? responses : {}, (response, status) =>
      isNode(response)
        ? {
            ...response,
            ...refusalOf(response, named),
            ...(status === "429" ? { headers: RETRY_AFTER } : {}),
            ...(isNode(response["content"]) ? { content: contentOf(response["content"], verb, named) } : {})
          }
        : response
    )
  }
}

const isProblem = (name: string) => /.Problem$/.test(name)

/** Merges all problems into one schema: a client gets one type of error, and distinguishes them by `code`. */
const withOneProblem = (schemas: Node): Node => {
  const { Problem } = schemas
  if (!isNode(Problem)) throw new Error("no schema is called Problem")
  const members = Object.entries(schemas).flatMap(([name, schema]) =>
    isProblem(name) && isNode(schema) && isNode(schema["properties"])
      ? Object.entries(schema["properties"])
      : []
  )
  const own = isNode(Problem["properties"]) ? Problem["properties"] : {}
  const properties: Node = { ...Object.fromEntries(members), ...own }
  const kept = Object.entries(schemas).filter(([name]) => !isProblem(name))
  return { ...Object.fromEntries(kept), Problem: { ...Problem, properties } }
}

/** The document that is served and kept, of the one that the definition gives. */
export const cleanDocument = (defined: Node): Node => {
  const document = withOneAnswer(defined)
  const { components, paths } = document
  if (!isNode(components) || !isNode(components["schemas"]) || !isNode(paths))
    throw new Error("not an OpenAPI document")
  const named: Named = { answers: new Map(), schemas: components["schemas"] }
  const operations = mapped(paths, (methods) =>
    isNode(methods)
      ? mapped(methods, (operation) => (isNode(operation) ? operationOf(operation, named) : operation))
      : methods
  )
  const schemas = mapped(withOneProblem(components["schemas"]), (schema) =>
    isNode(schema) ? schemaOf(schema) : schema
  )
  const requests = asked(operations, schemas)
  const all = { ...schemas, ...Object.fromEntries(named.answers) }
  return {
    ...document,
    paths: operations,
    components: {
      ...components,
      schemas: mapped(all, (schema, name) => (requests.has(name) ? taken(schema) : open(schema)))
    }
  }
}
