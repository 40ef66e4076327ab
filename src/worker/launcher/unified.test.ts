import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { without } from '../../../test/support/skip-without.ts'
import { nativeLauncher } from './native-binary.ts'
import { readNotes } from './notes.ts'
import { missing, open } from './testing/running.ts'

const isRoot = process.getuid?.() === 0
const skip =
  (await missing({ kind: 'native' })) ||
  (isRoot ? false : 'only root can: sudo npm test') ||
  without('unshare', 'util-linux')

/**
 * The launcher on a machine that has only control groups v2, as far as plain directories can look like
 * them. It is in `/above/own`. What the groups of each of its directories would have is there already:
 * the kernel would make it.
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
    /** Where it makes its groups. */
    home: cgroup.slice(root.length).replace(/\/[^/]*$/, ''),
    /** What was last asked for, there and one below. */
    asked: [join(cgroup, '..'), cgroup].map((path) =>
      readFileSync(join(path, 'cgroup.subtree_control'), 'latin1'),
    ),
  }
}

const ALL = ['cgroup.kill', 'memory.max', 'pids.max', 'cpu.max']

for (const [what, offers, home, limits] of [
  ['its own group', { 'above/own': ALL, above: ALL }, '/above/own', 4],
  ['the one above, if its own has none', { 'above/own': ['cgroup.kill'], above: ALL }, '/above', 4],
  ['the top, if nobody else has', { 'above/own': ['cgroup.kill'], above: [], '.': ALL }, '', 4],
  [
    'none, if nobody has',
    { 'above/own': ['cgroup.kill'], above: ['cgroup.kill'] },
    '/above/own',
    1,
  ],
] as const) {
  test(`on control groups v2, limits are asked for and had from ${what}`, { skip }, async (t) => {
    const unified = await onUnified(t, offers)
    assert.deepEqual([unified.home, unified.limits.length], [home, limits])
    // Each overwrote the one before, as far as it goes.
    assert.deepEqual(unified.asked, ['+cpusry', '+cpusry'])
  })
}
