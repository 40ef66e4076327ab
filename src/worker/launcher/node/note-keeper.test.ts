import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { open, run } from '../testing/running.ts'

const skip =
  process.platform === 'linux' && process.getuid?.() === 0 ? false : 'only root can: sudo npm test'

/** A file system that is full until its filling is removed. */
function fullDirectory(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'punctual-test', directory])
  t.after(() => {
    // After a failure, whoever notes something there has not left yet.
    execFileSync('umount', ['--lazy', directory])
    rmdirSync(directory)
  })
  const filling = join(directory, 'filling')
  assert.throws(() => writeFileSync(filling, Buffer.alloc(2 ** 20)), { code: 'ENOSPC' })
  return { directory, makeRoom: () => rmSync(filling) }
}

test(
  'what cannot be noted does not stay, the reason is said, and its launcher goes on',
  { skip },
  async (t) => {
    const { directory, makeRoom } = fullDirectory(t)
    const launcher = await open(t, { kind: 'node', notes: directory })
    const both = [run(launcher, 'sleep 1000 & sleep 1000'), run(launcher, 'echo up; sleep 1000')]
    for (const { ended, seen, left } of both) {
      assert.match(await ended, /^unstartable: its start cannot be noted: .*no space left/)
      assert.deepEqual([seen.out, left()], ['', []])
    }
    makeRoom()
    const later = run(launcher, 'echo hi')
    assert.equal(await later.ended, 'code 0')
    assert.equal(later.seen.out, 'hi\n')
    assert.equal(launcher.load, 0)
    launcher.close()
    await launcher.gone
  },
)
