import { readdirSync, readFileSync } from 'node:fs'

/**
 * Living processes of first attempts of these runs, found by the environment or the arguments that name the
 * attempt (`run_….1`) in /proc. Deliberately not the product's own method, which this is to check.
 */
export function survivorsOf(runs: readonly string[]): number[] {
  const wanted = new Set(runs)
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) return []
    const run =
      runIn(read(entry, 'environ')) ?? /run_\w+(?=\.1\b)/.exec(read(entry, 'cmdline'))?.[0]
    return run !== undefined && wanted.has(run) ? [Number(entry)] : []
  })
}

function runIn(environ: string): string | undefined {
  if (!environ.includes('PUNCTUAL_ATTEMPT=1\0')) return undefined
  return /PUNCTUAL_RUN_ID=(run_\w+)/.exec(environ)?.[1]
}

/** Empty for a process that has exited or is a zombie. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
