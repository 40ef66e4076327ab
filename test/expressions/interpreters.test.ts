// Values in texts that reach an interpreter: each form is refused, or warned about, or accepted because no
// interpreter executes the value. Real shells are tried with a hostile value.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Names } from '../../src/core/expression/check.ts'
import { readShellText } from '../../src/core/expression/shell/shell-text.ts'
import { scaledMs } from '../support/slowdown-factor.ts'

const names: Names = {
  input: null,
  facts: [],
  hasItem: false,
  maySecrets: false,
  refuseStep: () => undefined,
}

const X = '${{ input.x }}'
const BASH = '/bin/bash'
const folder = mkdtempSync(join(tmpdir(), 'punctual-interpreters-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** The pipe is read until every process that has it open has ended: process substitutions outlive a shell. */
const EACH = `text=$1; shift
for value; do
  export PUNCTUAL_EXPR_1="$value" PUNCTUAL_EXPR_2="$value" PUNCTUAL_EXPR_3="$value"
  "$SHELL" -c "$text" 2>/dev/null | while read -r _; do :; done
done`

/** Whether bash executes one of the values: it would create a file. */
function isCarriedOut(text: string, ...values: readonly string[]): boolean {
  const read = readShellText(text, names, 'run', BASH)
  assert.ok(read.variables.length <= 3)
  const cwd = mkdtempSync(join(folder, 'x-'))
  const env = { PATH: process.env['PATH'], SHELL: BASH }
  spawnSync(BASH, ['-c', EACH, 'each', read.text, ...values], {
    cwd,
    env,
    timeout: scaledMs(60_000),
  })
  return readdirSync(cwd).includes('hit')
}

function reading(text: string): 'refused' | 'warned' | 'quiet' {
  try {
    return readShellText(text, names, 'run', BASH).warnings.length > 0 ? 'warned' : 'quiet'
  } catch {
    return 'refused'
  }
}

/** The value that would be executed, where there is one. */
type Form = [text: string, value?: string]

const RUN = '>hit'

const refused: Form[] = [
  [`${X} arg`],
  [`"${X}" arg`],
  [`./tool-${X}`],
  [`A=1 ${X}`],
  [`exec ${X}`],
  [`time -p ${X}`],
  [`if ${X}; then :; fi`],
  [`! ${X}`],
  [`(${X})`],
  [`{ ${X}; }`],
  [`f() { ${X}; }; f`],
  [`: && ${X}`],
  [`: | ${X}`],
  [`> out ${X}`],
  [`$(${X})`],
  [`$(echo ${X})`],
  [`"$(echo ${X})" arg`],
  [`\${NONE:-${X}} arg`],
  [`case a in a) ${X};; esac`],
  [`${X}() { :; }`],
  [`echo ${X} | sh`],
  [`echo ${X} |& sh`],
  [`sh -c "${X}"`],
  [`eval ${X}`],
  [`bash <<< ${X}`],
  [`echo ${X} | env bash`],
  [`tini -- sh -c "echo ${X}"`],
  // A variable that is a number, or that a shell executes, is no safer when it is set in another way.
  [`declare -i i; for i in ${X}; do :; done`],
  [`declare -i i; read -r i <<< ${X}`],
  [`declare -i i; printf -v i %s ${X}`],
  [`for RANDOM in ${X}; do :; done`],
  [`for PS4 in ${X}; do set -x; :; done`],
  [`read -r PS4 <<< ${X}; set -x; :`],
  [`printf -v PS4 %s ${X}; set -x; :`],
  [`mapfile -C eval -c 1 <<< ${X}`],
]

const warned: Form[] = [
  // The forms of the known attack.
  [`echo ${X} | (sh)`, RUN],
  [`{ echo ${X}; } | sh`, RUN],
  [`. <(echo ${X})`, RUN],
  [`source <(echo ${X})`, RUN],
  [`bash < <(echo ${X})`, RUN],
  [`bash <(echo ${X})`, RUN],
  [`echo ${X} > >(sh)`, RUN],
  [`echo ${X} | tee >(sh) >out`, RUN],
  [`echo ${X} | $SHELL`, RUN],
  [`echo ${X} | "$SHELL" -e`, RUN],
  [`echo ${X} | \${SHELL:-sh}`, RUN],
  [`echo ${X} | xargs -I{} sh -c {}`, RUN],
  [`f() { sh; }; echo ${X} | f`, RUN],
  [`f() { eval "$1"; }; f ${X}`, RUN],
  [`f() { sh -c "$1"; }; f ${X}`, RUN],
  [`f() ( . /dev/stdin ); echo ${X} | f`, RUN],
  // Variants of it.
  [`(echo ${X}; :) | env sh`, RUN],
  [`(echo ${X}; :) | nice -n 1 bash -e`, RUN],
  [`while :; do echo ${X}; break; done | sh`, RUN],
  [`echo ${X} | if :; then sh; fi`, RUN],
  [`echo ${X} | { read -r line; eval "$line"; }`, RUN],
  [`exec 3< <(echo ${X}); bash <&3`, RUN],
  [`echo ${X} | bash /dev/stdin`, RUN],
  [`echo ${X} | (bash -s one)`, RUN],
  [`x=${X}; eval "$x"`, RUN],
  [`x=${X}; sh -c "$x"`, RUN],
  [`x=${X}; sh <<< "$x"`, RUN],
  [`x=${X}; trap "$x" EXIT`, RUN],
  [`printf '%s\\n' ${X} > f; cat f | (sh)`, RUN],
  [`set -- ${X}; eval "$@"`, RUN],
  [`a=(${X}); bash -c "\${a[0]}"`, RUN],
  [`$SHELL -c ${X}`, RUN],
  [`cmd=eval; $cmd ${X}`, RUN],
  [`$(echo eval) ${X}`, RUN],
  [`echo ${X} | (perl)`, 'open F, ">hit"'],
  [`perl -e "print '${X}'"`, "'; open F, '>hit'; '"],
  [`sed -n "s/a/${X}/p" <<< a`, 'x/;1e >hit\n#'],
  [`sed -e "s/a/${X}/" <<< a`, 'x/;1e >hit\n#'],
  [`awk "BEGIN { print ${X} }"`, 'system(">hit")'],
  [`env ${X}`, './missing'],
  [`timeout 5 ${X}`, './missing'],
  [`sudo -u nobody ${X}`, './missing'],
  [`ssh host "ls ${X}"`, './missing'],
  [`ssh ${X} uptime`, './missing'],
  [`make REV=${X}`, './missing'],
  [`psql -c "select ${X}"`, './missing'],
  [`python3 <<END\nprint("${X}")\nEND`, './missing'],
  [`echo ${X}; : $(( 'lost' )); cat f | sh`, './missing'],
]

const quiet: Form[] = [
  [`echo ${X}`],
  [`: ${X} | cat`],
  [`sh ./missing.sh ${X}`],
  [`bash -c 'echo "$1"' _ ${X}`],
  [`f() { sh -c 'echo "$1"' _ "$1"; }; f ${X}`],
  [`perl -e 'print $ARGV[0]' ${X}`],
  [`perl - ${X} <<'END'\nprint $ARGV[0]\nEND`],
  [`sh -s -- ${X} <<'END'\necho "$1"\nEND`],
  [`awk -v x=${X} 'BEGIN { print x }'`],
  [`sed -n 1p ${X}`],
  [`env A=${X} true`],
  [`timeout 5 echo ${X}`],
  [`. ./missing.sh; echo ${X}`],
  [`case ${X} in sh) :;; ${X}) :;; a|${X}) :;; esac`],
  [`for shell in bash sh; do echo ${X}; done`],
  [`echo sh bash eval ${X}`],
  [`"$HOME"/missing --day ${X}`],
  [`a=(1); a[0]=${X}; echo "\${a[0]}"`],
  [`A=${X} true`],
  [`echo ${X} > ${X}.txt`],
  [`bash < missing.sh; echo ${X}`],
  [`grep -q ${X} <<< text && echo ${X}`],
  [`echo ${X} | grep -q bash`],
  [`echo ${X} | grep -v sh`],
  [`echo ${X} | tee bash`],
  [`bash build.sh -c ${X}`],
  [`for i in ${X}; do echo "$i"; done`],
  [`read -r i <<< ${X}; echo "$i"`],
  [`printf -v i %s ${X}; echo "$i"`],
]

const HOSTILE = [RUN, '$(>hit)', '`>hit`', ';>hit;', '";>hit;"', '\n>hit\n', '*', 'x[$(>hit)]']
const skip = !existsSync(BASH) && 'apt-get install bash'

for (const [text] of refused) {
  test(`refused: ${text}`, () => assert.equal(reading(text), 'refused'))
}

for (const [text, value = RUN] of warned) {
  test(`warned about, because the value can be executed: ${text}`, { skip }, () => {
    assert.equal(reading(text), 'warned')
    // Programs that are not on every machine, or need a peer, are warned about and not run.
    if (value !== './missing') assert.equal(isCarriedOut(text, value), true)
  })
}

for (const [text] of quiet) {
  test(`accepted, and nothing is executed: ${text}`, { skip }, () => {
    assert.equal(reading(text), 'quiet')
    assert.equal(isCarriedOut(text, ...HOSTILE), false)
  })
}

test('a warning has its position in the field, whatever comes before it', () => {
  const text = `echo '$\${{' ${X}\n  echo ${X} | (cd / && bash -s)`
  const [warning, ...more] = readShellText(text, names, 'steps.load.run').warnings
  assert.deepEqual(more, [])
  assert.ok(warning)
  assert.equal(warning.field, 'steps.load.run')
  assert.equal(text.slice(warning.at, warning.at + warning.length), 'bash')
  assert.match(warning.message, /`bash` reads its input as a program/)
  assert.match(warning.hint, /env/)
})
