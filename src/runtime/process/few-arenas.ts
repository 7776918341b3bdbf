/** The C library gives each of up to eight threads a processor an arena of its own, and keeps what they have freed. */
const ARENAS = "2"

/**
 * Replaces the process by itself with fewer arenas of the C library, unless the environment says how many: the library reads
 * that before anything of ours runs. Some 50 MB less where documents are converted; what the threads allocate comes from
 * elsewhere, for the most part. Linux only.
 */
export const keepArenasFew = (): void => {
  if (process.platform !== "linux" || process.env["MALLOC_ARENA_MAX"] !== undefined) return
  // A parent that talks to this process would lose its channel.
  if (process.channel !== undefined) return
  const { execArgv, execPath } = process
  process.execve?.(execPath, [execPath, ...execArgv, ...process.argv.slice(1)], {
    ...process.env,
    MALLOC_ARENA_MAX: ARENAS
  })
}
