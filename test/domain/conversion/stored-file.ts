import type { StoredFile } from "../../../src/domain/conversion/file.ts"
import { anyId } from "../../support/any-id.ts"

/** A PDF of five pages that was just uploaded, but for `parts`. */
export const storedFile = (parts: Partial<StoredFile> = {}): StoredFile => ({
  id: anyId("file"),
  customerId: anyId("owner"),
  name: "a.pdf",
  kind: "pdf",
  sizeBytes: 1000,
  pages: 5,
  status: "uploaded",
  phase: null,
  batchWaiting: false,
  jobId: null,
  jobStatus: null,
  jobEndedAt: null,
  chunksDone: 0,
  progress: { done: 0, total: 0 },
  error: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  objectKey: "files/file/source",
  resultKey: null,
  unreadablePages: [],
  hasText: null,
  noModelPages: [],
  leftOut: null,
  reference: null,
  made: null,
  ...parts
})
