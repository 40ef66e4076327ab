import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { removeTree } from './remove-tree.ts'

function open(t: TestContext) {
  const outside = mkdtempSync(join(tmpdir(), 'punctual-remove-'))
  t.after(() => rmSync(outside, { recursive: true, force: true }))
  const root = join(outside, 'root')
  mkdirSync(root)
  return { outside, root }
}

test('files, directories, pipes and names that are not text are removed', async (t) => {
  const { root } = open(t)
  for (const one of ['a', 'a/b', 'a/b/c', 'd', '.hidden']) mkdirSync(join(root, one))
  for (const one of ['f', 'a/f', 'a/b/c/f', '.hidden/f']) writeFileSync(join(root, one), 'x')
  writeFileSync(Buffer.concat([Buffer.from(`${root}/a/`), Buffer.from([0xff, 0x80, 0x0a])]), '')
  spawnSync('mkfifo', [join(root, 'pipe')])
  for (let file = 0; file < 3_000; file += 1) writeFileSync(join(root, 'd', String(file)), '')
  await removeTree(root)
  assert.equal(existsSync(root), false)
})

test('a missing directory counts as removed', async (t) => {
  const { outside } = open(t)
  await removeTree(join(outside, 'never'))
})

test('a link is removed, its target is not', async (t) => {
  const { outside, root } = open(t)
  mkdirSync(join(outside, 'kept'))
  writeFileSync(join(outside, 'kept', 'file'), 'precious', { mode: 0o644 })
  mkdirSync(join(root, 'in'))
  symlinkSync(join(outside, 'kept'), join(root, 'in', 'directory'))
  symlinkSync('/', join(root, 'top'))
  symlinkSync(join(outside, 'kept', 'file'), join(root, 'file'))
  linkSync(join(outside, 'kept', 'file'), join(root, 'hard'))
  await removeTree(root)
  assert.equal(existsSync(root), false)
  assert.equal(readFileSync(join(outside, 'kept', 'file'), 'utf8'), 'precious')
})

test('a root that was replaced by a link is left alone', async (t) => {
  const { outside, root } = open(t)
  mkdirSync(join(outside, 'kept', 'inner'), { recursive: true })
  rmSync(root, { recursive: true })
  symlinkSync(join(outside, 'kept'), root)
  await assert.rejects(removeTree(root))
  assert.ok(existsSync(join(outside, 'kept', 'inner')))
})

test('any depth can be removed', async (t) => {
  const { root } = open(t)
  // A path of this length exceeds the limit of system calls.
  const made = spawnSync(
    'sh',
    ['-c', 'for i in $(seq 3000); do mkdir d && cd -P d || exit 1; done'],
    {
      cwd: root,
    },
  )
  assert.equal(made.status, 0, made.stderr.toString())
  await removeTree(root)
  assert.equal(existsSync(root), false)
})

test('restrictive modes do not prevent the owner from removing', async (t) => {
  const { outside, root } = open(t)
  const nobody = 65_534
  const isRoot = process.getuid?.() === 0
  chmodSync(outside, 0o755)
  for (const [directory, mode] of [
    ['shut', 0],
    ['shut/in', 0],
    ['readonly', 0o500],
    ['readonly/in', 0o500],
  ] as const) {
    const path = join(root, directory)
    chmodSync(root, 0o700)
    spawnSync('chmod', ['-R', 'u+rwx', root])
    mkdirSync(path, { mode: 0o700 })
    writeFileSync(join(path, 'f'), 'x')
    chmodSync(path, mode)
  }
  chmodSync(join(root, 'shut'), 0)
  chmodSync(root, 0)
  if (!isRoot) return assert.doesNotReject(removeTree(root))
  // Root ignores modes, so a process of another user removes the tree. It gives up root only after
  // its imports, because the checkout may lie below a directory that other users may not enter.
  spawnSync('chown', ['-R', `${nobody}:${nobody}`, root])
  chownSync(outside, nobody, nobody)
  const url = new URL('./remove-tree.ts', import.meta.url).href
  const code = `import { removeTree } from '${url}'
    process.setgroups([])
    process.setgid(${nobody})
    process.setuid(${nobody})
    await removeTree(process.argv[1])`
  const done = spawnSync(process.execPath, ['--input-type=module', '-e', code, root], { cwd: '/' })
  assert.equal(done.status, 0, done.stderr.toString())
  assert.equal(existsSync(root), false)
})
