import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BEACON_FILE, beaconDirectory } from '../cli/server/server-address.ts'

/** Says where this server is, to the command line of its user. Returns how to stop saying so. */
export function lightBeacon(options: {
  readonly url: string
  readonly dataDir: string
  readonly tokenFile: string
  readonly env: Readonly<Record<string, string | undefined>>
}): () => void {
  const beacon = {
    url: options.url,
    tokenFile: resolve(options.tokenFile),
    dataDir: resolve(options.dataDir),
    pid: process.pid,
  }
  const files = [join(options.dataDir, BEACON_FILE)]
  try {
    const directory = beaconDirectory(options.env)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    files.push(join(directory, `${process.pid}.json`))
  } catch {
    // A user without a home finds the server in its directory all the same.
  }
  for (const file of files) writeFileSync(file, `${JSON.stringify(beacon)}\n`, { mode: 0o600 })
  return () => {
    for (const file of files) rmSync(file, { force: true })
  }
}
