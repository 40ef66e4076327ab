import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeDirectory } from '../../cli/files/make-directory.ts'
import {
  abandonedFiles,
  SERVER_FILE,
  type ServerFile,
  serversDirectory,
  startOfProcess,
} from '../../cli/server/running-servers.ts'
import { writePrivately } from './private-files.ts'

/**
 * Writes the file by which the command line of this user finds the server. Returns a function that
 * removes it.
 */
export function publishServerFile(options: {
  readonly url: string
  readonly dataDir: string
  readonly tokenFile: string
  readonly env: Readonly<Record<string, string | undefined>>
}): () => void {
  const processStart = startOfProcess(process.pid)
  const server: ServerFile = {
    url: options.url,
    tokenFile: resolve(options.tokenFile),
    dataDir: resolve(options.dataDir),
    pid: process.pid,
    ...(processStart === undefined ? {} : { processStart }),
  }
  const files = [join(options.dataDir, SERVER_FILE)]
  try {
    const directory = serversDirectory(options.env)
    makeDirectory(directory, 0o700)
    for (const file of abandonedFiles(directory)) rmSync(file, { force: true })
    files.push(join(directory, `${process.pid}.json`))
  } catch {
    // Without the file, the command line still finds the server by its directory.
  }
  for (const file of files) writePrivately(file, `${JSON.stringify(server)}\n`)
  return () => {
    for (const file of files) rmSync(file, { force: true })
  }
}
