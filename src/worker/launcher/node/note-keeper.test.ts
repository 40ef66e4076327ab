import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { open, run } from '../testing/running.ts'

const skip =
  process.platform === 'linux' && process.getuid?.() === 0 ? false : 'only root can: sudo npm test'

/** A file system that stays full until its filler file is removed. */
function fullDirectory(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'punctual-test', directory])
  t.after(() => {
    // After a failed test, a launcher that writes notes there may still run.
    execFileSync('umount', ['--lazy', directory])
    rmdirSync(directory)
  })
  const filling = join(directory, 'filling')
  assert.throws(() => writeFileSync(filling, Buffer.alloc(2 ** 20)), { code: 'ENOSPC' })
  return { directory, makeWorkerDirectory: () => rmSync(filling) }
}

test(
  'a process that cannot be recorded is killed with a reason, and its launcher continues',
  { skip },
  async (t) => {
    const { directory, makeWorkerDirectory } = fullDirectory(t)
    const launcher = await open(t, { kind: 'node', notes: directory })
    const both = [run(launcher, 'sleep 1000 & sleep 1000'), run(launcher, 'echo up; sleep 1000')]
    for (const { ended, seen, left } of both) {
      assert.match(await ended, /^unstartable: its start cannot be recorded: .*no space left/)
      assert.deepEqual([seen.out, left()], ['', []])
    }
    makeWorkerDirectory()
    const later = run(launcher, 'echo hi')
    assert.equal(await later.ended, 'code 0')
    assert.equal(later.seen.out, 'hi\n')
    assert.equal(launcher.load, 0)
    launcher.close()
    await launcher.ended
  },
)
