import type { WireSubmission } from '../../src/core/wire/runs.ts'
import { FatalError, type Handler } from '../../src/worker/index.ts'

/** Everything a program might accidentally do with its secrets. */

const both = (command: string): string => `{ ${command}; }; { ${command}; } >&2`
const secrets = ['PASSWORD', 'URL', { name: 'KEY', as: 'file' } as const]
const PYTHON = `
import base64, json, os, sys, urllib.parse
for name in ['PASSWORD', 'URL', 'KEY']:
    value = os.environ.get(name) or open(os.environ['KEY_FILE']).read()
    raw = value.encode()
    for text in [json.dumps(value), json.dumps(value, ensure_ascii=False), urllib.parse.quote(value),
                 urllib.parse.quote(value, safe=''), urllib.parse.quote_plus(value), raw.hex(),
                 raw.hex().upper(), base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode(),
                 base64.b64encode(b'user:' + raw).decode(), base64.b64encode(b'u' + raw + b'!').decode()]:
        print(text)
        print(text, file=sys.stderr)
raise ValueError('cannot log in with ' + os.environ['PASSWORD'])
`

/** Enough output that the result is a blob and the log is compressed, with the secrets in all forms in both. */
const MUCH = `
import json, os, sys
exec(os.environ['SPELL'])
noise = [f'{n} ' + 'lorem ipsum ' * 9 for n in range(1500)]
texts = [text for name in ['PASSWORD', 'URL', 'KEY'] for text in spell(name)]
for n, line in enumerate(noise):
    print(line, texts[n % len(texts)], file=sys.stdout if n % 2 else sys.stderr)
with open(os.environ['PUNCTUAL_OUTPUT'], 'w') as result:
    json.dump({'noise': noise, 'texts': texts, 'all': dict.fromkeys(texts, 1)}, result)
`
const SPELL = `
import base64, urllib.parse
def spell(name):
    value = os.environ.get(name) or open(os.environ['KEY_FILE']).read()
    raw = value.encode()
    return [value, json.dumps(value), json.dumps(value, ensure_ascii=False), urllib.parse.quote(value),
            urllib.parse.quote(value, safe=''), urllib.parse.quote_plus(value), raw.hex(),
            raw.hex().upper(), base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode(),
            base64.b64encode(b'user:' + raw).decode(), base64.b64encode(b'u' + raw + b'!').decode()]
`

export const SECRET_PRINTING_JOBS: readonly WireSubmission[] = [
  { run: both('echo "$PASSWORD"; echo "$URL"; cat "$KEY_FILE"'), secrets },
  { run: `${both('env')}; set; exit 3`, secrets },
  { argv: ['sh', '-c', 'exec "/no/such/$PASSWORD"'], secrets },
  { run: 'echo "::error::no luck with $PASSWORD"; echo "::progress::50 $URL"; exit 4', secrets },
  { argv: ['sh', '-xc', 'true "$PASSWORD" "$URL"'], secrets },
  // Letter by letter, so that no two letters arrive together.
  {
    run: 'printf %s "$PASSWORD" | while IFS= read -r -n1 c; do printf %s "$c"; done',
    shell: '/bin/bash',
    secrets,
  },
  {
    run: 'base64 "$KEY_FILE"; base64 -w0 "$KEY_FILE"; od -An -tx1 "$KEY_FILE" | tr -d " \\n"',
    secrets,
  },
  { script: PYTHON, interpreter: 'python3', secrets },
  { run: `printf '{"password": "%s"}' "$URL" > "$PUNCTUAL_OUTPUT"`, secrets },
  { run: 'printf %s "$PASSWORD" > "$PUNCTUAL_OUTPUT"', secrets },
  { run: `printf '["%s"]' "$URL" | sed 's/p/\\\\u0070/' > "$PUNCTUAL_OUTPUT"`, secrets },
  // Enough output that the middle is left out; the cut may be within a secret.
  { run: 'yes "$PASSWORD" | head -c 3000000', limits: { output: '1MiB' }, secrets },
  { run: 'printf %s "$PASSWORD" | head -c 12; kill -9 $$', secrets },
  { job: 'throws', secrets },
  { job: 'gives-up', secrets },
  { job: 'returns', secrets },
  { script: MUCH, interpreter: 'python3', env: { SPELL }, secrets },
]

export const HANDLERS: Readonly<Record<string, Handler>> = {
  throws(_input, context) {
    throw new Error(`${'x'.repeat(8 * 1024 - 8)}${secretOf(context)}`)
  },
  'gives-up'(_input, context) {
    throw new FatalError(`no luck with ${Buffer.from(secretOf(context)).toString('base64')}`)
  },
  returns: (_input, context) => ({ all: context.secrets, [secretOf(context)]: 1 }),
}

function secretOf({
  secrets: given,
}: {
  readonly secrets: Readonly<Record<string, string>>
}): string {
  return given['PASSWORD'] ?? ''
}
