import { get, post, raw, refuses, submit, type BadInput } from './testing/bad-input.ts'
import { RUN, SESSION, TOKEN } from './testing/fake-scheduler.ts'

const limits = ['-1', '0', '501', '1000000000', '1.5', 'ten', '', '1e2', ' 5']

const remove = (url: string, body: string) => ({ ...post(url, body), method: 'DELETE' as const })
const endlessNul = JSON.stringify({ ['x'.repeat(9_000)]: '\0' })
const endless = JSON.stringify({ ['x'.repeat(9_000)]: 1 })

refuses('invalid_id', [
  ['no id at all', get('/v1/runs/'), 'id'],
  ['a bare number', get('/v1/runs/12'), 'id'],
  ['a session for a run', get(`/v1/runs/${SESSION}`), 'id'],
  ['a path for a run', get('/v1/runs/..%2f..%2fetc%2fpasswd'), 'id'],
  ['a path escaped twice', get('/v1/runs/..%252f..%252fetc'), 'id'],
  ['NUL in a run', get('/v1/runs/run_%00'), 'id'],
  ['a run beyond 53 bits', get('/v1/runs/run_zzzzzzzzzzz'), 'id'],
  ['a cancel of nothing', post('/v1/runs/x/cancel', '{}'), 'id'],
])

refuses('invalid_field', [
  ...limits.map((limit): BadInput => {
    const url = `/v1/runs?limit=${encodeURIComponent(limit)}`
    return [`a limit of "${limit}"`, get(url), 'limit']
  }),
  ['two limits', get('/v1/runs?limit=1&limit=2'), 'limit'],
  ['two cursors', get('/v1/runs?cursor=a&cursor=b'), 'cursor'],
  ['a state that is only a word', get('/v1/runs?state=waiting'), 'state'],
  ['a job that is no name', get('/v1/runs?job=a%27--'), 'job'],
  ['a job whose name has a letter too many', get(`/v1/jobs/${'x'.repeat(129)}`), 'name'],
  ['a cancel with a list', post(`/v1/runs/${RUN}/cancel`, '[1]')],
  ['NUL under an endless key', post('/v1/runs', endlessNul), `${'x'.repeat(300)}…`],
])

refuses('unknown_field', [
  ['an order nobody offered', get('/v1/runs?sort=id'), 'sort'],
  ['a prototype in the query', get('/v1/runs?__proto__=1'), '__proto__'],
  ['a cancel with wishes', post(`/v1/runs/${RUN}/cancel`, '{"force":true}'), 'force'],
  ['a cancel with an endless wish', post(`/v1/runs/${RUN}/cancel`, endless), 'x'.repeat(64)],
  ['a deletion with wishes', remove('/v1/jobs/a', '{"force":true}'), 'force'],
  ['a revocation with wishes', remove('/v1/tokens/tok_1', '{"force":true}'), 'force'],
  ['a limit where nothing is limited', get('/v1/workers?limit=5'), 'limit'],
  ['a wait on a submission', post('/v1/runs?wait=20s', '{"job":"a"}'), 'wait'],
  ['a parameter of a cancel', post(`/v1/runs/${RUN}/cancel?force`, '{}'), 'force'],
])

refuses('invalid_cursor', [
  ['a cursor with SQL in it', get('/v1/runs?cursor=%27;drop'), 'cursor'],
  ['a cursor without end', get(`/v1/runs?cursor=${'a'.repeat(256)}`), 'cursor'],
])

refuses('run_not_found', [['a run that is not there', get('/v1/runs/run_00000000002')]])

refuses('not_found', [
  ['a path we do not have', get('/v1/schedulers')],
  ['a path above the API', get('/v1/../etc/passwd')],
  ['a slash too many', get('/livez/')],
])

refuses('method_not_allowed', [
  ['DELETE of a run', { ...get(`/v1/runs/${RUN}`), method: 'DELETE' }],
  ['PUT of a run', { ...submit({}), method: 'PUT' }],
  ['GET of a batch', get('/v1/runs:batch')],
  ['GET of an exchange', get(`/v1/workers/${SESSION}/exchange`)],
  ['POST to the health check', post('/livez', '{}')],
])

refuses('uri_too_long', [
  ['an id of 400 letters', get(`/v1/runs/${'x'.repeat(400)}`)],
  ['a query of 9,000 letters', get(`/v1/runs?job=${'x'.repeat(9_000)}`)],
])

refuses('unauthorized', [
  ['no token', { method: 'GET', url: '/v1/runs' }],
  ['another token', get('/v1/runs', { authorization: 'Bearer wrong' })],
  ['a longer token', get('/v1/runs', { authorization: `Bearer ${TOKEN}x` })],
  ['an empty token', get('/v1/runs', { authorization: 'Bearer ' })],
  ['the token under another scheme', get('/v1/runs', { authorization: `Basic ${TOKEN}` })],
  ['an unknown path without a token', { method: 'GET', url: '/v1/secret' }],
])

refuses('host_not_allowed', [
  ['a foreign name', get('/v1/runs', { host: 'evil.example' })],
  ['a foreign name that asks for health', get('/livez', { host: 'evil.example:7420' })],
  ['a name that starts like ours', get('/v1/runs', { host: '127.0.0.1.evil.example' })],
  ['our name as a user of another', get('/v1/runs', { host: 'localhost@evil.example' })],
])

refuses('invalid_request', [
  ['a bad escape', get('/v1/runs/%zz')],
  ['a path for a project', get('/v1/runs', { 'punctual-project': '../x' }), 'Punctual-Project'],
  ['an empty project', get('/v1/runs', { 'punctual-project': '' }), 'Punctual-Project'],
  ...['', 'a b', 'k'.repeat(10_000), 'é'].map((key): BadInput => {
    const why = `"${key.slice(0, 10)}" for an idempotency key`
    return [why, raw('{"job":"a"}', { 'idempotency-key': key }), 'Idempotency-Key']
  }),
])

const twoKeys = '{"job":"a","idempotency_key":"k"}'

refuses('invalid_field', [
  [
    'a key in the header and one in the body',
    raw(twoKeys, { 'idempotency-key': 'k' }),
    'idempotency_key',
  ],
])
