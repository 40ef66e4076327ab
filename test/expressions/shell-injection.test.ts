import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
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
const folder = mkdtempSync(join(tmpdir(), 'punctual-injection-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const BASH = '/bin/bash'
const shells = existsSync(BASH) ? ['/bin/sh', BASH] : ['/bin/sh']
/** Each creates a file if any part of it is executed. */
const HOSTILE = [
  'q[$(>hit)]',
  'q[$(>hit)]=1',
  '$(>hit)',
  '`>hit`',
  ';>hit;',
  '";>hit;"',
  "';>hit;'",
  '\n>hit\n',
  '-vq[$(>hit)]',
  '([$(>hit)]=1)',
  '0)) ; >hit ; ((0',
  '0]$(>hit)',
  '}$(>hit)',
  '>hit',
]

/** Runs the text with each value in all of its variables, and once with two values alternating. */
const EACH = `shell=$1 text=$2; shift 2
for value; do
  export PUNCTUAL_EXPR_1="$value" PUNCTUAL_EXPR_2="$value" PUNCTUAL_EXPR_3="$value" PUNCTUAL_EXPR_4="$value"
  "$shell" -c "$text"
done
export PUNCTUAL_EXPR_1=-v PUNCTUAL_EXPR_2='q[$(>hit)]' PUNCTUAL_EXPR_3=-v PUNCTUAL_EXPR_4='q[$(>hit)]'
"$shell" -c "$text"
export PUNCTUAL_EXPR_1=eval PUNCTUAL_EXPR_2='>hit' PUNCTUAL_EXPR_3=eval PUNCTUAL_EXPR_4='>hit'
"$shell" -c "$text"`

/** The shell and the text that executed a part of a value, proved by the file. */
function carriedOut(text: string, values: readonly string[]): string | undefined {
  for (const shell of shells) {
    let read
    try {
      read = readShellText(text, names, 'run', shell)
    } catch {
      continue
    }
    assert.ok(read.variables.length <= 4)
    const cwd = mkdtempSync(join(folder, 'x-'))
    const words = ['-c', EACH, 'each', shell, read.text, ...values]
    spawnSync('/bin/sh', words, { env: {}, cwd, timeout: scaledMs(60_000), input: '' })
    const found = readdirSync(cwd).includes('hit')
    rmSync(cwd, { recursive: true })
    if (found) return `${shell}: ${read.text}`
  }
  return undefined
}

const refused = [
  // Arithmetic, with any nesting.
  `: $(( (x+(y)) * ${X} ))`,
  `: $((((1)) + ${X}))`,
  `(( (x+(1)) , ${X} ))`,
  `: "$(( (1) + ${X} ))"`,
  `: $(( $(echo ${X}) + 1 ))`,
  `: $(( \${NONE:-${X}} ))`,
  `: $(( q[1] + ${X} ))`,
  `: $[ ${X} ]`,
  `: $[ q[0] + ${X} ]`,
  `for (( i = 0; i < ${X}; i++ )); do break; done`,
  `cat <<END\n$(( ${X} ))\nEND`,
  `cat <<END\n\tEND\n# $(( ${X} ))\nEND`,
  `: "$(case x in x) (( ${X} ));; esac)"`,
  `: x\\\n#$(( ${X} ))`,
  `: $'it\\'s' '$((' ${X} '))'`,
  // Offsets and subscripts.
  `s=abcdef; : "\${s:${X}:5}"`,
  `s=abcdef; : "\${s:1:${X}}"`,
  `s=abcdef; : \${s: ${X}}`,
  `a[${X}]=1`,
  `a["${X}"]=1`,
  `a[1+$(echo ${X})]=1`,
  `a=([${X}]=1)`,
  `a=(1 2); : "\${a[${X}]}"`,
  `a=(1 2); : "\${a[1+${X}]:-x}"`,
  `: "\${${X}}"`,
  `: "\${!${X}}"`,
  // Commands that evaluate arithmetic.
  `let y=${X}`,
  `let "y = ${X} + 1"`,
  `true && let y=${X}`,
  `if true; then let y=${X}; fi`,
  `f() { let y=${X}; }; f`,
  `f () { let "y=$(echo ${X})"; }; f`,
  `function f { let y=${X}; }; f`,
  `{ let y=${X}; }`,
  `case x in x) let y=${X};; esac`,
  `case x in (x) let y=${X};; esac`,
  `>f 2>&1 let y=${X}`,
  `A=1 builtin let y=${X}`,
  `\\let y=${X}`,
  `declare -i n=${X}`,
  `declare -i n; n=${X}`,
  `declare -i n; n+=${X}`,
  `declare -i n; : "\${n:=${X}}"`,
  `declare -a a="${X}"`,
  `declare ${X}`,
  `declare "a[0]"=1 "${X}"`,
  `declare -n r=${X}; : "$r"`,
  `export ${X}`,
  `SECONDS=${X}`,
  `[[ 1 -eq ${X} ]]`,
  `[[ ${X} -eq 1 ]]`,
  `[[ a == a && ${X} -lt 1 ]]`,
  `[[ a == a && ( ${X} -lt 1 ) ]]`,
  `[[ -n x || 1 -ge $(echo ${X}) ]]`,
  `if [[ "${X}" -gt 3 ]]; then :; fi`,
  `[[ -v ${X} ]]`,
  `[ -v ${X} ]`,
  `test -v "${X}"`,
  `[ ${X} ${X} ]`,
  // Variable names.
  `printf -v ${X} x`,
  `printf ${X} x`,
  `printf "${X}" x`,
  `read ${X} <<< x`,
  `read -r "a[${X}]" <<< x`,
  `unset ${X}`,
  `mapfile -C ${X} -c 1 a <<< x`,
  // Interpreters.
  `eval ${X}`,
  `eval "echo ${X}"`,
  `eval "$(echo echo ${X})"`,
  `command eval "${X}"`,
  `e"v"al ${X}`,
  `eval < <(true) ${X}`,
  `trap "${X}" EXIT`,
  `PS4=${X}; set -x; :`,
  `. /dev/stdin <<< "${X}"`,
  `sh -c "echo ${X}"`,
  `env sh -ec "echo ${X}"`,
  `bash -c -e "echo ${X}"`,
  `bash <<< "echo ${X}"`,
  `sh <<END\necho ${X}\nEND`,
  `cat <<END | sh\necho ${X}\nEND`,
  `echo "${X}" | sh`,
  `echo "${X}" | cat | bash -s`,
  `${X} ${X}`,
  `[[ ${X}$'\\'' -eq 1 ]]`,
]

// Speed is measured by `npm run bench -- loop`; a text that takes exponential time would never finish here.
test('text with unlimited nesting is refused', () => {
  for (const piece of ['$(', '((', '${A:-', '$(x ', '`', '[', '\\', 'x ']) {
    const text = piece.repeat(Math.floor(60_000 / piece.length))
    try {
      readShellText(text + X, names, 'run')
    } catch (error) {
      assert.ok(error instanceof Error && error.message.length < 1_000, piece)
    }
  }
})

for (const text of refused) {
  test(`refused, because a shell would execute parts of a value: ${text}`, () => {
    assert.throws(() => readShellText(text, names, 'run'), /\$\{\{ .* \}\} is /)
    assert.equal(carriedOut(text, HOSTILE), undefined)
  })
}

const accepted = [
  `: ${X}`,
  `: "a[${X}]"`,
  `: $(( (1+(2)) * 3 )) ${X}`,
  `: "$(( 1 + 2 ))" "${X}"`,
  `: $(( a[1] )) ${X}`,
  `: "\${s:1:2}" ${X}`,
  `a=(1 2); : "\${a[@]}" "\${#a[@]}" "\${a[1]}" ${X}`,
  `a=(${X} "${X}" z); : "\${a[@]}"`,
  `: "\${NONE:-${X}}" "\${NONE-${X}}" "\${HOME#${X}}" \${HOME%${X}}`,
  `export A=${X} B="${X}"`,
  `f() { local a=${X}; : "$a"; }; f`,
  `[ "${X}" = prod ] && :`,
  `[ -n ${X} ]`,
  `[ ${X} -gt 3 ]`,
  `[[ ${X} == a && -n "${X}" ]]`,
  `[[ a == a ]] && : ${X} -eq`,
  `if [ ${X} = a ]; then : ${X}; else : ${X}; fi`,
  `for f in ${X} b; do : "$f" ${X}; done`,
  `case ${X} in a) : ${X};; *) : "${X}";; esac`,
  `while false; do : ${X}; done`,
  `printf '%s\\n' ${X}`,
  `printf -- "${X}"`,
  `read -r a b <<< "${X}"`,
  `cat < /dev/null 2>&1 | cat ${X}`,
  `sh -c 'echo "$1"' _ ${X}`,
  `sh ./none.sh ${X}`,
  `echo ${X} | cat`,
  `cat <<END\n$(( 1 + 1 )) ${X}\nEND\n: ${X} ${X}`,
  `: \\\n  ${X} \\\n  ${X}`,
  `: ${X}#not-a-comment ${X}`,
  `# (( ${X} ))\n: ${X}`,
  `tool let ${X}; tool eval ${X}`,
  `make build REV=${X}`,
]

for (const text of accepted) {
  test(`accepted, and nothing in a value is executed: ${text}`, () => {
    readShellText(text, names, 'run')
    assert.equal(carriedOut(text, HOSTILE), undefined)
  })
}

test(
  'bash executes values that it uses in arithmetic',
  { skip: !existsSync(BASH) && 'apt-get install bash' },
  () => {
    const cwd = mkdtempSync(join(folder, 'x-'))
    spawnSync(BASH, ['-c', ': $(( V ))'], { cwd, env: { V: 'q[$(>hit)]' } })
    assert.deepEqual(readdirSync(cwd), ['hit'])
  },
)

test('a value becomes no command in any shell, in any surrounding text', () => {
  const piece = fc.constantFrom(
    '"',
    "'",
    ' ',
    'x',
    '\\',
    '$',
    '(',
    ')',
    '((',
    '))',
    '$((',
    '[',
    ']',
    '$[',
    '${A:',
    '${a[',
    '}',
    '=',
    'a=',
    '[[ ',
    ' ]]',
    ' -eq ',
    'let ',
    'eval ',
    'declare -i ',
    '`',
    '#',
    '\n',
    ';',
    '|',
    '&&',
    '<<E\n',
    '\nE\n',
    '<<<',
    'sh ',
    '-c ',
    X,
    X,
    X,
    X,
  )
  const values = HOSTILE.slice(0, 5)
  fc.assert(
    fc.property(fc.array(piece, { minLength: 2, maxLength: 10 }), (pieces) => {
      const text = pieces.join('')
      if (text.split(X).length <= 5) assert.equal(carriedOut(text, values), undefined)
    }),
    { numRuns: 100 },
  )
})
