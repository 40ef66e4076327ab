import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { formatKey, newKey, parseKeys } from '../../core/secrets/key-file.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

/**
 * Adds a new key before the others. The file is replaced as a whole: a server may be reading it.
 */
export function addKey(path: string, randomBytes: (count: number) => Buffer): string {
  const before = read(path)
  const parsed = before === '' ? [] : parseKeys(before)
  if (typeof parsed === 'string') throw new Failure(`${path} ${parsed}`, { exitCode: EXIT.config })
  const key = newKey(randomBytes)
  const draft = `${path}.new`
  try {
    writeFileSync(draft, formatKey(key) + before, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(draft, { force: true })
    throw new Failure(`${path} cannot be written: ${(error as Error).message}`)
  }
  return key.id
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new Failure(`${path} cannot be read: ${(error as Error).message}`)
  }
}
