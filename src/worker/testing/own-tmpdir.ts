import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A directory for temporary files that only this test uses, until the test ends. */
export function useOwnTmpdir(t: TestContext): string {
  const before = process.env['TMPDIR']
  const directory = mkdtempSync(join(tmpdir(), 'punctual-own-'))
  process.env['TMPDIR'] = directory
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}
