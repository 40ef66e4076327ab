import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, statfsSync, statSync } from 'node:fs'
import { copyFile, chmod, open, rename, rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { EXIT } from '../cli/errors/exit-codes.ts'
import { Failure } from '../cli/errors/failure.ts'
import { makeDirectory, reasonOf } from '../cli/files/make-directory.ts'
import { type Format, printOne } from '../cli/terminal/output.ts'
import { runningServers } from '../cli/server/running-servers.ts'
import { describeServer } from '../cli/server/server-address.ts'
import type { Terminal } from '../cli/terminal/terminal.ts'
import { formatSize } from '../core/text/size.ts'
import { explainDiskFull } from './data-directory/explain-disk-full.ts'
import type { Settings } from './settings/settings.ts'

export interface BackupFlags {
  readonly data?: string
  readonly withSecretKey?: boolean
}

/** The content of `backup.json` in the backup, which is also the command's JSON output. */
interface Manifest {
  readonly directory: string
  readonly created_at: string
  readonly version: string
  readonly source: string
  readonly runs: number
  readonly database_bytes: number
  readonly blobs: number
  readonly blob_bytes: number
  readonly damaged_blobs: readonly string[]
  readonly secrets: number
  readonly has_secret_key: boolean
}

interface BackupContext {
  readonly terminal: Terminal
  readonly version: string
  readonly format: Format
  readonly withSecretKey: boolean
}

/**
 * `punctual db backup`: copies a data directory, which may be in use, so that a server can start on
 * the copy. The copy appears under its name complete and checked, or not at all.
 */
export async function backUp(
  settings: Settings,
  directory: string,
  context: BackupContext,
): Promise<number> {
  const target = resolve(directory)
  const from = requireFile(settings)
  if (existsSync(target)) {
    throw new Failure(`${target} exists already; a backup never overwrites`, {
      exitCode: EXIT.usage,
      hint: 'Name a directory that does not exist yet, for example with the date in it.',
    })
  }
  requireRoom(from, target)
  const keyFile = context.withSecretKey ? requireKeyFile(settings) : null
  const unfinished = `${target}.${randomBytes(4).toString('hex')}.unfinished`
  const progress = showProgress(context.terminal)
  const stopWatching = removeWhenInterrupted(unfinished)
  try {
    makeTarget(unfinished, target)
    const options = { ...context, settings, from, target, keyFile, progress }
    const manifest = await fill(unfinished, options)
    await rename(unfinished, target)
    await sync(dirname(target))
    progress.end()
    report(manifest, context)
    return manifest.damaged_blobs.length > 0 ? EXIT.unexpected : EXIT.ok
  } catch (error) {
    progress.end()
    // If the directory could not be created, there is nothing to remove.
    await rm(unfinished, { recursive: true, force: true }).catch(() => {})
    throw explainDiskFull(error, dirname(target))
  } finally {
    stopWatching()
  }
}

/** An interrupted copy is useless and may be as large as the original. */
function removeWhenInterrupted(unfinished: string): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    rmSync(unfinished, { recursive: true, force: true })
    process.exit(128 + constants.signals[signal])
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, onSignal)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
}

function requireKeyFile({ secretKey, dataDir }: Settings): string {
  const path = secretKey ?? join(dataDir, 'secret-key')
  if (existsSync(path)) return path
  throw new Failure(`there is no secret key at ${path}`, {
    exitCode: EXIT.notFound,
    hint: 'Name the file with --secret-key, or leave --with-secret-key out.',
  })
}

function makeTarget(unfinished: string, target: string): void {
  try {
    makeDirectory(unfinished, 0o700)
  } catch (error) {
    const problem = explainDiskFull(error, dirname(target))
    if (problem !== error) throw problem
    throw new Failure(`${target} cannot be made: ${reasonOf(error)}`, {
      exitCode: EXIT.usage,
      hint: 'Name a directory on a disk that this user can write to.',
    })
  }
}

async function fill(
  unfinished: string,
  options: BackupContext & {
    readonly settings: Settings
    readonly from: string
    readonly target: string
    /** Null if the key must not be in the backup. */
    readonly keyFile: string | null
    readonly progress: CopyProgress
  },
): Promise<Manifest> {
  const { settings, from, keyFile, terminal, progress } = options
  const { copyBlobs } = await import('../blobs/fs/copy-blobs.ts')
  const { backUpDatabase } = await import('../store/sqlite/files/backup.ts')
  const to = join(unfinished, 'punctual.db')
  const blobsFrom = join(settings.dataDir, 'blobs')
  const copyAll = () =>
    settings.blobs === 'fs'
      ? copyBlobs(blobsFrom, join(unfinished, 'blobs'), progress.blob)
      : { copied: 0, bytes: 0, damaged: [] }
  // Blobs are copied before the snapshot and again after it: every blob that the snapshot names
  // existed at one of the two times, even if the server deletes blobs meanwhile.
  const before = await copyAll()
  const database = await backUpDatabase({ from, to, onProgress: progress.pages })
  const after = await copyAll()
  await sync(to)
  if (keyFile !== null) {
    const copy = join(unfinished, 'secret-key')
    await copyFile(keyFile, copy)
    await chmod(copy, 0o600)
    await sync(copy)
  }
  const manifest: Manifest = {
    directory: options.target,
    created_at: new Date(terminal.now()).toISOString(),
    version: options.version,
    source: from,
    runs: database.runs,
    database_bytes: statSync(to).size,
    blobs: before.copied + after.copied,
    blob_bytes: before.bytes + after.bytes,
    damaged_blobs: after.damaged,
    secrets: database.secrets,
    has_secret_key: keyFile !== null,
  }
  const file = await open(join(unfinished, 'backup.json'), 'wx', 0o600)
  await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`)
  await file.sync()
  await file.close()
  await sync(unfinished)
  return manifest
}

/** For files and folders. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

function requireFile({ store, dataDir }: Settings): string {
  if (store.startsWith('postgres')) {
    throw new Failure('the data is in PostgreSQL, which has its own backup tools', {
      exitCode: EXIT.usage,
      hint: 'pg_dump -Fc "$PUNCTUAL_STORE" > punctual.dump; keep the secret key file as well. See docs/how-to/back-up.md.',
    })
  }
  const path = resolve(store.slice('sqlite:'.length))
  if (existsSync(path)) return path
  const running = runningServers(process.env)
  const listed = running.length > 0 ? ' Servers of yours that run here are listed above.' : ''
  throw new Failure(`there is no database at ${path}`, {
    exitCode: EXIT.notFound,
    list: running.map(describeServer),
    hint: `Give the server's data directory with --data; searched in ${resolve(dataDir)}.${listed}`,
  })
}

/** An estimate: blobs need additional space. */
function requireRoom(from: string, target: string): void {
  const parent = nearestFolder(target)
  const { bavail, bsize } = statfsSync(parent)
  const wal = statSync(`${from}-wal`, { throwIfNoEntry: false })
  const needed = statSync(from).size + (wal?.size ?? 0)
  if (bavail * bsize > needed) return
  const room = `${parent} has ${formatSize(bavail * bsize)} free, and the database ${formatSize(needed)}`
  throw new Failure(`there is not enough space for the backup: ${room}`, {
    code: 'storage_full',
    hint: 'Choose a directory on another disk.',
  })
}

function nearestFolder(path: string): string {
  const parent = dirname(path)
  return existsSync(parent) || parent === path ? parent : nearestFolder(parent)
}

interface CopyProgress {
  pages(done: { readonly pages: number; readonly of: number }): void
  blob(bytes: number): void
  end(): void
}

/** Short operations show no progress, nor do those without a terminal. */
const SHOW_AFTER_MS = 300
const START_OF_LINE = '\r\u001B[K'

function showProgress(terminal: Terminal): CopyProgress {
  let shownMono = terminal.mono() + SHOW_AFTER_MS - 100
  let isShown = false
  let blobBytes = 0
  const show = (text: string) => {
    if (!terminal.isInteractive || terminal.mono() - shownMono < 100) return
    shownMono = terminal.mono()
    isShown = true
    terminal.err(`${START_OF_LINE}${text}`)
  }
  return {
    pages: ({ pages, of }) => show(`database: ${Math.floor((100 * pages) / Math.max(1, of))} %`),
    blob(bytes) {
      blobBytes += bytes
      show(`large inputs and results: ${formatSize(blobBytes)}`)
    },
    end() {
      if (isShown) terminal.err(START_OF_LINE)
    },
  }
}

function report(manifest: Manifest, { terminal, format }: BackupContext): void {
  const { directory, runs, database_bytes, blobs, blob_bytes, damaged_blobs } = manifest
  const large = blobs > 0 ? `, ${blobs} large inputs and results (${formatSize(blob_bytes)})` : ''
  printOne(terminal, format, manifest, {
    name: directory,
    humanText: () =>
      `${directory}: ${runs} runs (${formatSize(database_bytes)})${large}; checked\n` +
      `To use it: cp -a ${directory} NEW && punctual up --data NEW\n`,
  })
  for (const key of damaged_blobs) {
    terminal.err(`punctual: skipped a damaged blob: ${key}\n`)
  }
  if (manifest.has_secret_key) {
    terminal.err(
      'punctual: the backup contains the secret key: anyone with the backup can read every secret\n',
    )
  } else if (manifest.secrets > 0) {
    terminal.err(
      'punctual: the secret key is not in the backup; keep a copy of it elsewhere: without it, secrets are lost\n',
    )
  }
}
