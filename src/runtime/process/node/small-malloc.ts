/** Limit on malloc arenas. By default the C library makes up to eight arenas a processor, and each keeps the memory freed in it. */
const ARENAS = "2"
/** Blocks of so many bytes go back to the system when they are freed; left alone, the library raises that limit up to 32 MB. */
const RETURNED_FROM = "131072"

/**
 * Replaces the process by itself with other settings of the C library's malloc, unless the environment says how many arenas it has:
 * the library reads that before anything of ours runs. Some 60 MB less where documents are converted; what the threads allocate
 * comes from elsewhere, for the most part. Linux only.
 */
export const keepMallocSmall = (): void => {
  if (process.platform !== "linux" || process.env["MALLOC_ARENA_MAX"] !== undefined) return
  // A parent that talks to this process would lose its channel.
  if (process.channel !== undefined) return
  const { execArgv, execPath } = process
  process.execve?.(execPath, [execPath, ...execArgv, ...process.argv.slice(1)], {
    MALLOC_MMAP_THRESHOLD_: RETURNED_FROM,
    ...process.env,
    MALLOC_ARENA_MAX: ARENAS
  })
}
