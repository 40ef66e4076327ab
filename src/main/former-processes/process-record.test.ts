import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { Abilities } from '../../worker/launcher/messages.ts'
import { lockNameOf } from '../../worker/launcher/lock-file.ts'
import { createProcessRecord, readRecord } from './process-record.ts'

const skip = process.platform !== 'linux' && 'only there does a process have a lasting identity'
const ABILITIES: Abilities = {
  kind: 'native',
  containment: 'pidns',
  limits: [],
  canSwitchUser: false,
  holdsLock: true,
  hidesFiles: false,
  why: '',
}

describe('the record of a server process', { skip }, () => {
  const open = (t: TestContext) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'punctual-record-'))
    t.after(() => rmSync(dataDir, { recursive: true }))
    const errors: unknown[] = []
    const record = createProcessRecord(dataDir, (error) => errors.push(error))
    assert.ok(record)
    const directory = dirname(record.locks)
    return { record, errors, directory, read: () => readRecord(directory) }
  }
  // Any two running processes will do.
  const [first, second] = [process.pid, process.ppid]

  test('names its launchers before they get work, until they have ended', (t) => {
    const { record, read } = open(t)
    record.onLauncher({ pid: first, abilities: ABILITIES })
    record.addSession('ses_1')
    const name = lockNameOf(first) ?? ''
    assert.deepEqual(read(), { containment: 'pidns', sessions: ['ses_1'], launchers: [name] })
    record.onLauncher({ pid: second, abilities: ABILITIES })
    assert.deepEqual(read()?.launchers, [name, lockNameOf(second)])
    writeFileSync(join(record.locks, name), 'ended  \n')
    record.onLauncher({ pid: second, abilities: ABILITIES })
    assert.deepEqual(read()?.launchers, [lockNameOf(second)])
  })

  test('is removed for good once a launcher holds no lock', (t) => {
    const { record, read } = open(t)
    record.onLauncher({ pid: first, abilities: ABILITIES })
    record.addSession('ses_1')
    record.onLauncher({ pid: second, abilities: { ...ABILITIES, holdsLock: false } })
    assert.equal(read(), undefined)
    record.addSession('ses_2')
    assert.equal(read(), undefined)
  })

  test('that cannot be written costs the proof, not the session', (t) => {
    const { record, errors, directory, read } = open(t)
    record.onLauncher({ pid: first, abilities: ABILITIES })
    record.addSession('ses_1')
    rmSync(directory, { recursive: true })
    record.addSession('ses_2')
    assert.equal(errors.length, 1)
    assert.equal(read(), undefined)
  })

  test('is not created where there is no space for it, with a warning', (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'punctual-record-'))
    t.after(() => rmSync(dataDir, { recursive: true }))
    writeFileSync(join(dataDir, 'processes'), 'a file in its place')
    const errors: unknown[] = []
    assert.equal(
      createProcessRecord(dataDir, (error) => errors.push(error)),
      undefined,
    )
    assert.equal(errors.length, 1)
  })
})
