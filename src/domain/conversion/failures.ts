/**
 * What the owner reads of work that ended without a result and without an error of its worker, by the code that decides it. The functions of
 * the database are handed this record, and keep its sentence on the file or the job.
 */
export const FAILURES = {
  insufficient: "Not enough credits were left when the result was ready",
  unreadable: "No page of this document could be read. Print it to PDF anew, then upload it again.",
  worker_died: "Its worker died several times over one part of the document",
  stopped: "The user stopped the conversion",
  file_deleted: "The user stopped the conversion: the file was deleted"
} as const
