import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { skipWithout } from '../../../test/support/skip-without.ts'
import { nativeLauncher } from './native-binary.ts'
import { readNotes } from './notes.ts'
import { missing, open } from './testing/running.ts'

const isRoot = process.getuid?.() === 0
const skip =
  (await missing({ kind: 'native' })) ||
  (isRoot ? false : 'only root can: sudo npm test') ||
  skipWithout('unshare', 'util-linux')

/**
 * The launcher on a machine with only cgroups v2, imitated with plain directories. The launcher is
 * in `/above/own`. The files of its cgroups exist beforehand, because no kernel creates them.
 */
async function onUnified(t: TestContext, offers: Readonly<Record<string, readonly string[]>>) {
  const found = await nativeLauncher()
  assert.ok('path' in found)
  const directory = mkdtempSync(join(tmpdir(), 'punctual-unified-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const [root, notes] = [join(directory, 'root'), join(directory, 'notes')]
  for (const path of [notes, join(root, 'above/own')]) mkdirSync(path, { recursive: true })
  const script = [
    '#!/bin/sh',
    '[ "$MOVED" ] || MOVED=1 exec unshare -m --propagation private "$0" "$@"',
    'name=punctual.$(cut -c-8 /proc/sys/kernel/random/boot_id).$(stat -Lc %i /proc/$$/ns/pid)',
    'name=$name.$$.$(cut -d" " -f22 /proc/$$/stat)',
    `echo '30 20 0:26 / ${root} rw - cgroup2 cgroup2 rw' > ${directory}/mountinfo`,
    `echo '0::/above/own' > ${directory}/cgroup`,
  ]
  for (const [place, files] of Object.entries(offers)) {
    const base = join(root, place)
    script.push(`mkdir -p ${base}/$name/probe`)
    script.push(`: > ${base}/cgroup.subtree_control; : > ${base}/$name/cgroup.subtree_control`)
    for (const file of files) script.push(`: > ${base}/$name/probe/${file}`)
  }
  for (const file of ['mountinfo', 'cgroup']) {
    script.push(`mount --bind ${directory}/${file} /proc/$$/${file}`)
  }
  const native = join(directory, 'launcher')
  writeFileSync(native, [...script, `exec ${found.path} "$@"`, ''].join('\n'), { mode: 0o700 })
  const launcher = await open(t, { kind: 'native', containment: 'group', native, notes })
  const [note = ''] = readdirSync(notes)
  const [cgroup = ''] = readNotes(join(notes, note)).cgroups
  return {
    limits: launcher.abilities.limits,
    /** The parent of its cgroups. */
    home: cgroup.slice(root.length).replace(/\/[^/]*$/, ''),
    /** The last controllers requested there and one level below. */
    asked: [join(cgroup, '..'), cgroup].map((path) =>
      readFileSync(join(path, 'cgroup.subtree_control'), 'latin1'),
    ),
  }
}

const ALL = ['cgroup.kill', 'memory.max', 'pids.max', 'cpu.max']

for (const [what, offers, home, limits] of [
  ['its own group', { 'above/own': ALL, above: ALL }, '/above/own', 4],
  ['the one above, if its own has none', { 'above/own': ['cgroup.kill'], above: ALL }, '/above', 4],
  [
    'the root group, if no group below it has any',
    { 'above/own': ['cgroup.kill'], above: [], '.': ALL },
    '',
    4,
  ],
  [
    'none, if no group has any',
    { 'above/own': ['cgroup.kill'], above: ['cgroup.kill'] },
    '/above/own',
    1,
  ],
] as const) {
  test(`on cgroups v2, limits are requested and obtained from ${what}`, { skip }, async (t) => {
    const unified = await onUnified(t, offers)
    assert.deepEqual([unified.home, unified.limits.length], [home, limits])
    // Each write overwrote the beginning of the previous one.
    assert.deepEqual(unified.asked, ['+cpusry', '+cpusry'])
  })
}
