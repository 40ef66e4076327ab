import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PunctualError } from '../../core/errors.ts'
import type { ServerUser } from './path-access.ts'
import {
  type Access,
  accessOf,
  protectDatabase,
  protectDataDir,
  writePrivately,
} from './private-files.ts'

const ME = 1_000
const TABLE: [uid: number, mode: number, access: Access][] = [
  [ME, 0o600, 'private'],
  [ME, 0o700, 'private'],
  [ME, 0o400, 'private'],
  [ME, 0o644, 'repair'],
  [ME, 0o755, 'repair'],
  [ME, 0o666, 'repair'],
  [ME, 0o710, 'repair'],
  [0, 0o600, 'private'],
  [0, 0o644, 'readable'],
  [0, 0o640, 'readable'],
  [0, 0o664, 'writable'],
  [0, 0o602, 'writable'],
  [2_000, 0o600, 'writable'],
  [2_000, 0o400, 'writable'],
]
for (const [uid, mode, access] of TABLE) {
  const whose = uid === ME ? 'our own' : uid === 0 ? "root's" : "another user's"
  test(`${whose} file with the mode ${mode.toString(8)} is ${access}`, () =>
    assert.equal(accessOf({ uid, mode }, ME), access))
}

test('for root, a file of any other user is writable by another user', () => {
  assert.equal(accessOf({ uid: ME, mode: 0o600 }, 0), 'writable')
})

function home(t: TestContext): { dir: string; warnings: string[]; protect: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-modes-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const data = join(dir, 'data')
  mkdirSync(data)
  const warnings: string[] = []
  return { dir: data, warnings, protect: () => protectDataDir(data, (text) => warnings.push(text)) }
}

const modeOf = (path: string) => statSync(path).mode & 0o777

function refused(message: RegExp, hint: RegExp) {
  return (error: unknown) =>
    error instanceof PunctualError &&
    error.code === 'config_invalid' &&
    message.test(error.message) &&
    hint.test(error.hint)
}

test('a data directory that others can read is made private, with all its files', (t) => {
  const { dir, warnings, protect } = home(t)
  chmodSync(dir, 0o755)
  for (const name of ['punctual.db', 'punctual.db-wal', 'punctual.db-shm', 'server.json']) {
    writeFileSync(join(dir, name), '')
    chmodSync(join(dir, name), 0o644)
  }
  mkdirSync(join(dir, 'blobs'))
  chmodSync(join(dir, 'blobs'), 0o775)
  protect()
  assert.equal(modeOf(dir), 0o700)
  assert.equal(modeOf(join(dir, 'blobs')), 0o700)
  for (const name of ['punctual.db', 'punctual.db-wal', 'punctual.db-shm', 'server.json']) {
    assert.equal(modeOf(join(dir, name)), 0o600, name)
  }
  assert.match(
    warnings.join('\n'),
    /punctual\.db could be reached by other users \(0644\); it is 0600 now/,
  )
  warnings.length = 0
  protect()
  assert.deepEqual(warnings, [])
})

test('the target of a link in the data directory keeps its mode', (t) => {
  const { dir, protect } = home(t)
  const target = join(dir, '..', 'elsewhere')
  writeFileSync(target, '')
  chmodSync(target, 0o644)
  symlinkSync(target, join(dir, 'blobs'))
  protect()
  assert.equal(modeOf(target), 0o644)
})

test('a parent directory that everyone can write to is refused unless it is sticky', (t) => {
  const { dir, protect } = home(t)
  chmodSync(join(dir, '..'), 0o777)
  assert.throws(protect, refused(/can be written by other users/, /chmod o-w \//))
  chmodSync(join(dir, '..'), 0o1777)
  protect()
})

const notRoot = process.getuid?.() !== 0 && 'only root can give files away: sudo npm test'

test('a file or a directory of another user is refused', { skip: notRoot }, (t) => {
  const { dir, protect } = home(t)
  writeFileSync(join(dir, 'punctual.db'), '')
  chownSync(join(dir, 'punctual.db'), 65_534, 65_534)
  assert.throws(protect, refused(/punctual\.db can be written by other users/, /chown 0 /))
  rmSync(join(dir, 'punctual.db'))
  chownSync(dir, 65_534, 65_534)
  assert.throws(protect, refused(/data can be written by other users/, /chown 0 /))
})

/** A user other than the tester, who is root here. */
const STRANGER = 65_534
const ALICE: ServerUser = {
  uid: 1_000,
  gid: 1_000,
  groups: [1_000, 2_000],
  invokers: [],
  unmappedUid: undefined,
}

test(
  'a data directory is refused if other users can write to its parent',
  { skip: notRoot },
  (t) => {
    const { dir, protect } = home(t)
    const parent = join(dir, '..')
    chownSync(parent, STRANGER, STRANGER)
    assert.throws(protect, refused(/can be written by user 65534$/, /^Choose another place/))
    chownSync(parent, 0, STRANGER)
    chmodSync(parent, 0o2775)
    assert.throws(protect, refused(/can be written by group 65534$/, /^Run chmod g-w \//))
    assert.equal(modeOf(dir), 0o755)
    chownSync(parent, 0, 0)
    protect()
  },
)

test('root is warned of a directory of the user who started the server', { skip: notRoot }, (t) => {
  const { dir, warnings } = home(t)
  const parent = join(dir, '..')
  chownSync(parent, 1_000, 1_000)
  chmodSync(parent, 0o775)
  const root = { ...ALICE, uid: 0, gid: 0, groups: [0], invokers: [1_000] }
  protectDataDir(dir, (text) => warnings.push(text), root)
  assert.equal(warnings.filter((text) => text.startsWith('user')).length, 1)
  assert.match(warnings[0] ?? '', /^user 1000 can write to \S+, and so replace the data/)
})

test('a database is refused if others can write to its directory', { skip: notRoot }, (t) => {
  const { dir } = home(t)
  const protect = () => protectDatabase(join(dir, 'x.db'), () => {})
  chownSync(dir, 0, STRANGER)
  chmodSync(dir, 0o2775)
  assert.throws(protect, refused(/data can be written by group 65534$/, /--store/))
  chmodSync(dir, 0o755)
  protect()
  writeFileSync(join(dir, 'x.db-journal'), '')
  chownSync(join(dir, 'x.db-journal'), STRANGER, STRANGER)
  assert.throws(protect, refused(/x\.db-journal can be written by other users/, /chown 0/))
})

for (const name of ['blobs', 'processes', 'admin-token', 'secret-key', 'notes']) {
  test(`a link ${name} of another user is refused`, { skip: notRoot }, (t) => {
    const { dir, protect } = home(t)
    writeFileSync(join(dir, 'punctual.db'), '')
    chmodSync(dir, 0o777)
    const target = join(dir, '..', 'theirs')
    mkdirSync(target)
    chownSync(target, STRANGER, STRANGER)
    symlinkSync(target, join(dir, name))
    protect()
    lchownSync(join(dir, name), STRANGER, STRANGER)
    for (const _ of ['first', 'second']) {
      assert.throws(protect, refused(/is a symbolic link of user 65534/, /rm \S+, or choose/))
    }
  })
}

test(
  'files that others created while the directory was open are refused',
  { skip: notRoot },
  (t) => {
    const { dir, protect } = home(t)
    mkdirSync(join(dir, 'blobs', 'ab'), { recursive: true })
    chmodSync(join(dir, 'blobs'), 0o777)
    symlinkSync('/', join(dir, 'blobs', 'ab', 'x'))
    lchownSync(join(dir, 'blobs', 'ab', 'x'), STRANGER, STRANGER)
    for (const _ of ['first', 'second']) {
      assert.throws(
        protect,
        refused(/blobs\/ab\/x belongs to user 65534/, /Check for files they left/),
      )
    }
  },
)

test('a root token of another user is refused, whatever its mode', { skip: notRoot }, (t) => {
  const { dir, protect } = home(t)
  writeFileSync(join(dir, 'admin-token'), 'x', { mode: 0o600 })
  chownSync(join(dir, 'admin-token'), STRANGER, STRANGER)
  assert.throws(protect, refused(/admin-token can be written by other users/, /chown 0/))
})

test('a path through a link of another user is refused', { skip: notRoot }, (t) => {
  const { dir } = home(t)
  const link = join(dir, '..', 'link')
  symlinkSync(dir, link)
  const protect = (path: string) => () => protectDataDir(path, () => {})
  const before = modeOf(dir)
  lchownSync(link, STRANGER, STRANGER)
  for (const path of [link, join(link, 'deeper')]) {
    assert.throws(protect(path), refused(/link is a symbolic link of user 65534/, /Look where/))
  }
  assert.throws(
    () => protectDatabase(join(link, 'deeper', 'x.db'), () => {}),
    refused(/link is a symbolic link of user 65534/, /--store/),
  )
  assert.deepEqual([modeOf(dir), readdirSync(dir)], [before, []])
  lchownSync(link, 0, 0)
  protect(join(link, 'deeper'))()
  assert.deepEqual(readdirSync(dir), ['deeper'])
})

test("other programs' files keep their mode, as does a directory without Punctual's files", (t) => {
  const { dir, protect } = home(t)
  writeFileSync(join(dir, 'index.html'), '')
  chmodSync(join(dir, 'index.html'), 0o644)
  chmodSync(dir, 0o755)
  assert.throws(protect, refused(/holds index\.html and nothing of Punctual/, /an empty directory/))
  assert.deepEqual([modeOf(dir), modeOf(join(dir, 'index.html'))], [0o755, 0o644])
  writeFileSync(join(dir, 'admin-token'), '', { mode: 0o600 })
  protect()
  assert.deepEqual([modeOf(dir), modeOf(join(dir, 'index.html'))], [0o700, 0o644])
})

test('a directory with only entries of file systems and git counts as empty', (t) => {
  const { dir, protect } = home(t)
  for (const name of ['lost+found', '.gitignore', 'config.json']) writeFileSync(join(dir, name), '')
  protect()
  assert.equal(modeOf(dir), 0o700)
})

test('a directory that its owner made private may contain other files', (t) => {
  const { dir, protect, warnings } = home(t)
  writeFileSync(join(dir, 'certificate.pem'), '')
  chmodSync(dir, 0o700)
  protect()
  assert.deepEqual(warnings, [])
})

test(
  'files that others can read and the server cannot change cause a warning',
  { skip: notRoot },
  (t) => {
    const { dir, warnings } = home(t)
    writeFileSync(join(dir, 'config.json'), '')
    chmodSync(join(dir, 'config.json'), 0o644)
    chmodSync(dir, 0o755)
    chmodSync(join(dir, '..'), 0o755)
    protectDataDir(dir, (text) => warnings.push(text), ALICE)
    assert.equal(warnings.length, 2)
    assert.match(
      warnings[0] ?? '',
      /data can be read by other users; run chmod 700 \S+ as its owner/,
    )
    assert.match(warnings[1] ?? '', /config\.json can be read by other users; run chmod 600/)
    assert.deepEqual([modeOf(dir), modeOf(join(dir, 'config.json'))], [0o755, 0o644])
  },
)

test('a database outside of the data directory is made private; its directory is left alone', (t) => {
  const { dir, warnings } = home(t)
  const path = join(dir, 'own.db')
  writeFileSync(`${path}-wal`, '')
  writeFileSync(path, '')
  chmodSync(dir, 0o755)
  for (const file of [path, `${path}-wal`]) chmodSync(file, 0o644)
  protectDatabase(path, (text) => warnings.push(text))
  assert.deepEqual([modeOf(dir), modeOf(path), modeOf(`${path}-wal`)], [0o755, 0o600, 0o600])
  assert.equal(warnings.length, 2)
})

test('a file is replaced as a whole, and never written through a link', (t) => {
  const { dir } = home(t)
  const path = join(dir, 'server.json')
  writePrivately(path, 'one')
  writePrivately(path, 'two')
  assert.deepEqual([readFileSync(path, 'utf8'), modeOf(path)], ['two', 0o600])
  assert.deepEqual(readdirSync(dir), ['server.json'])
  const victim = join(dir, 'victim')
  rmSync(path)
  symlinkSync(victim, path)
  assert.throws(() => writePrivately(path, 'x'), refused(/is a symbolic link/, /run rm /))
  assert.ok(!existsSync(victim))
  assert.deepEqual(readdirSync(dir), ['server.json'])
})
