import { DEFAULT_MODEL } from "../../adapters/bedrock/models.ts"
import { area, open } from "./setting.ts"
import { batchFaults, bucket, decimal, flag, integer, languages, oneOf, text } from "./shapes.ts"

export const conversion = area("Conversion", {
  filesBucket: open("FILES_BUCKET", bucket, { otherwise: "a folder on disk" })`
    Object storage of uploaded files and of results.`,
  heartbeatIntervalMs: open("CHUNK_HEARTBEAT_INTERVAL_MS", integer(10), {
    fallback: "10000",
    unit: "milliseconds"
  })`
    How often a running chunk renews its lease.`,
  modelId: open("HIFI_MODEL_ID", text, { fallback: DEFAULT_MODEL })`
    The high-fidelity model on Bedrock: the id of a model or of an inference profile.`,
  temperature: open("HIFI_TEMPERATURE", decimal, { otherwise: "none is sent" })`
    Temperature of its calls. Newer models refuse any.`,
  withoutModel: open("HIFI_UNAVAILABLE", oneOf(["fail", "standard"]), { fallback: "fail" })`
    What happens if a conversion asked for high fidelity and no page got it. fail: it fails, free of charge. standard: it is completed
    and charged as a standard one.`,
  inputUsdPerMtok: open("HIFI_INPUT_USD_PER_MTOK", decimal, {
    otherwise: "the list price of the model and its profile",
    unit: "USD a million tokens"
  })`
    Price of the model's input. Known list prices: Claude 4.5 to Opus 4.7 (aws.amazon.com/bedrock/pricing).`,
  outputUsdPerMtok: open("HIFI_OUTPUT_USD_PER_MTOK", decimal, {
    otherwise: "the list price of the model and its profile",
    unit: "USD a million tokens"
  })`
    Price of the model's output, likewise.`,
  ocr: open("OCR", oneOf(["auto", "off"]), { fallback: "auto" })`
    auto: pages without a usable text layer are read from their pictures on this machine (Tesseract), unless a model reads them.
    off: they stay pictures.`,
  ocrLanguages: open("OCR_LANGUAGES", languages, { fallback: "eng,deu,fra,spa" })`
    Languages of scans by Tesseract's codes, the commonest first. Other ones need their package
    ${"`@tesseract.js-data/CODE`"} installed.`,
  ocrWorkers: open("OCR_WORKERS", integer(1, 64), {
    otherwise: "one less than the processors, 4 at most",
    unit: "threads"
  })`
    Pages that a process reads at once, each in a thread of about 350 MB.`,
  ocrMaxPages: open("OCR_MAX_PAGES", integer(1), { fallback: "2000", unit: "pages" })`
    Scans of a document that are read. Later ones stay pictures and say so.`,
  ocrPageSeconds: open("OCR_PAGE_SECONDS", integer(1, 3600), { fallback: "60", unit: "seconds" })`
    Processor time of a page (before Node 24.6, elapsed time); after it the page stays a picture. Most take five seconds.`,
  perOwner: open("CONVERSIONS_PER_OWNER", integer(1), { otherwise: "no limit", unit: "pieces of work" })`
    Chunks of one owner in progress at once over all processes, and as many layout-true results.`,
  dailyBudgetUsd: open("MODEL_DAILY_BUDGET_USD", decimal, { otherwise: "no limit", unit: "USD" })`
    What models may cost a day (UTC). Beyond it, jobs that use one are paused until the next day or a higher budget.`
})

export const batch = area("Batch lane", {
  enabled: open("BATCH_CONVERSION_ENABLED", flag, { fallback: "0" })`
    Switches the batch lane on; read when a job is created and when the driver starts.`,
  bucket: open("BATCH_CONVERSION_S3_BUCKET", bucket)`
    Bucket of batch inputs and outputs; the lane stays off without it.`,
  roleArn: open("BATCH_CONVERSION_ROLE_ARN", text)`
    Service role of the batch jobs; the lane stays off without it.`,
  minPages: open("BATCH_CONVERSION_MIN_PAGES", integer(1), { fallback: "600", unit: "pages" })`
    Fewest pages of a job that is not a bulk item.`,
  minRecords: open("BATCH_CONVERSION_MIN_RECORDS", integer(1), { fallback: "100", unit: "records" })`
    A job with fewer records runs on demand; set it to the account's quota.`,
  maxRecords: open("BATCH_CONVERSION_MAX_RECORDS", integer(1), { fallback: "50000", unit: "records" })`
    A job with more records runs on demand; set it to the account's quota.`,
  timeoutHours: open("BATCH_CONVERSION_TIMEOUT_HOURS", integer(0), { fallback: "24", unit: "hours" })`
    Time-out of a batch job, 24 to 168; the driver gives up 2 hours after it.`,
  maxFileMb: open("BATCH_CONVERSION_MAX_FILE_MB", integer(1, 1024), { fallback: "200", unit: "MB" })`
    Largest input shard; the provider takes files of 1 GB.`,
  pollSeconds: open("BATCH_CONVERSION_POLL_SECONDS", integer(1), { fallback: "300", unit: "seconds" })`
    How often submitted jobs are polled.`,
  driverTickSeconds: open("BATCH_DRIVER_TICK_SECONDS", integer(1), { fallback: "60", unit: "seconds" })`
    How often the driver looks for work.`,
  localDelaySeconds: open("LOCAL_BATCH_DELAY_SECONDS", decimal, { fallback: "5", unit: "seconds" })`
    Embedded: delay of a local batch job.`,
  localFaults: open("LOCAL_BATCH_FAULTS", batchFaults, { otherwise: "nothing" })`
    Embedded: faults of the local batch service for drills: shares of records and seconds of a stop
    (${"`failed=0.1 unfinished=0.2 stop=60`"}), ${"`expires`"}, ${"`stops`"} or ${"`fails`"}.`
})
