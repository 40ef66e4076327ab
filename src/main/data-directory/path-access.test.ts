import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FoundDirectory, type ServerUser, writersOf } from './path-access.ts'

const ALICE: ServerUser = {
  uid: 1_000,
  gid: 1_000,
  groups: [1_000, 2_000],
  invokers: [],
  unmappedUid: undefined,
}
const ROOT: ServerUser = { ...ALICE, uid: 0, gid: 0, groups: [0, 2_000], invokers: [1_000] }
const IN_NAMESPACE: ServerUser = { ...ALICE, unmappedUid: 65_534 }

const directory = (uid: number, gid: number, mode: number, more: Partial<FoundDirectory> = {}) => ({
  uid,
  gid,
  mode,
  isMountPoint: false,
  ...more,
})
const MOUNTED = { isMountPoint: true }

const TABLE: [
  what: string,
  user: ServerUser,
  found: FoundDirectory,
  verdict: 'none' | 'tolerated' | 'refused',
][] = [
  ['a directory of root', ALICE, directory(0, 0, 0o755), 'none'],
  ['/tmp', ALICE, directory(0, 0, 0o1777), 'none'],
  ['/tmp without the sticky bit', ALICE, directory(0, 0, 0o777), 'refused'],
  ["the user's home", ALICE, directory(1_000, 1_000, 0o755), 'none'],
  ['a directory of a private group', ALICE, directory(1_000, 1_000, 0o775), 'none'],
  ["a directory of root's group", ALICE, directory(0, 0, 0o775), 'none'],
  ['a directory for a team', ALICE, directory(0, 2_000, 0o2775), 'refused'],
  ["the user's own directory for a team", ALICE, directory(1_000, 2_000, 0o2775), 'refused'],
  ['a sticky directory for a team', ALICE, directory(0, 2_000, 0o3775), 'none'],
  ["another user's home", ALICE, directory(1_001, 1_001, 0o700), 'refused'],
  ["another user's sticky directory", ALICE, directory(1_001, 1_001, 0o1777), 'refused'],
  ['a volume of Kubernetes', ALICE, directory(0, 2_000, 0o2775, MOUNTED), 'tolerated'],
  ['a volume of another group', ALICE, directory(0, 3_000, 0o2775, MOUNTED), 'refused'],
  ['a world-writable volume', ALICE, directory(0, 2_000, 0o2777, MOUNTED), 'refused'],
  ['an unmapped owner', ALICE, directory(65_534, 65_534, 0o755), 'refused'],
  ['an unmapped owner', IN_NAMESPACE, directory(65_534, 65_534, 0o755), 'none'],
  ['the home of who called sudo', ROOT, directory(1_000, 1_000, 0o775), 'tolerated'],
  ['that home, world-writable', ROOT, directory(1_000, 1_000, 0o777), 'refused'],
  ["any other user's home", ROOT, directory(1_001, 1_001, 0o755), 'refused'],
  ['a volume of Kubernetes', ROOT, directory(0, 2_000, 0o2775, MOUNTED), 'refused'],
]
for (const [what, user, found, verdict] of TABLE) {
  const who = user === ROOT ? 'root' : user === ALICE ? 'a user' : 'a user in a namespace'
  test(`for ${who}, ${what} (0${found.mode.toString(8)}): ${verdict}`, () =>
    assert.equal(writersOf(found, user).verdict, verdict))
}
