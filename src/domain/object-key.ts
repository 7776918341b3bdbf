const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/

/** Longest key, characters: S3's limit (1,024 bytes) with room for a bucket's prefix. */
const MAX_KEY = 900

/**
 * Whether a text can be the key of an object: parts of `[A-Za-z0-9._-]` that do not begin with a dot, joined by `/`.
 * Bedrock accepts exactly this in an `s3Uri`, and no such key leads out of a folder on disk.
 */
export const isObjectKey = (key: string): boolean => key.length <= MAX_KEY && KEY.test(key)
