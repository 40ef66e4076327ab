import {
  getRequest,
  postRequest,
  rawRequest,
  testRefusals,
  submitRequest,
  type BadInput,
} from './testing/bad-input.ts'
import { RUN, SESSION, TEST_TOKEN } from './testing/fake-scheduler.ts'

const limits = ['-1', '0', '501', '1000000000', '1.5', 'ten', '', '1e2', ' 5']

const remove = (url: string, body: string) => ({
  ...postRequest(url, body),
  method: 'DELETE' as const,
})
const endlessNul = JSON.stringify({ ['x'.repeat(9_000)]: '\0' })
const endless = JSON.stringify({ ['x'.repeat(9_000)]: 1 })

testRefusals('invalid_id', [
  ['no id at all', getRequest('/v1/runs/'), 'id'],
  ['a bare number', getRequest('/v1/runs/12'), 'id'],
  ['a session for a run', getRequest(`/v1/runs/${SESSION}`), 'id'],
  ['a path for a run', getRequest('/v1/runs/..%2f..%2fetc%2fpasswd'), 'id'],
  ['a path escaped twice', getRequest('/v1/runs/..%252f..%252fetc'), 'id'],
  ['NUL in a run', getRequest('/v1/runs/run_%00'), 'id'],
  ['a run beyond 53 bits', getRequest('/v1/runs/run_zzzzzzzzzzz'), 'id'],
  ['a cancel of nothing', postRequest('/v1/runs/x/cancel', '{}'), 'id'],
])

testRefusals('invalid_field', [
  ...limits.map((limit): BadInput => {
    const url = `/v1/runs?limit=${encodeURIComponent(limit)}`
    return [`a limit of "${limit}"`, getRequest(url), 'limit']
  }),
  ['two limits', getRequest('/v1/runs?limit=1&limit=2'), 'limit'],
  ['two cursors', getRequest('/v1/runs?cursor=a&cursor=b'), 'cursor'],
  ['a state that is only a word', getRequest('/v1/runs?state=waiting'), 'state'],
  ['a job that is no name', getRequest('/v1/runs?job=a%27--'), 'job'],
  ['a job whose name has a letter too many', getRequest(`/v1/jobs/${'x'.repeat(129)}`), 'name'],
  ['a cancel with a list', postRequest(`/v1/runs/${RUN}/cancel`, '[1]')],
  ['NUL under an endless key', postRequest('/v1/runs', endlessNul), `${'x'.repeat(300)}…`],
])

testRefusals('unknown_field', [
  ['an unknown order', getRequest('/v1/runs?sort=id'), 'sort'],
  ['a prototype in the query', getRequest('/v1/runs?__proto__=1'), '__proto__'],
  ['a cancel with wishes', postRequest(`/v1/runs/${RUN}/cancel`, '{"force":true}'), 'force'],
  ['a cancel with an endless wish', postRequest(`/v1/runs/${RUN}/cancel`, endless), 'x'.repeat(64)],
  ['a deletion with wishes', remove('/v1/jobs/a', '{"force":true}'), 'force'],
  ['a revocation with wishes', remove('/v1/tokens/tok_1', '{"force":true}'), 'force'],
  ['a limit where nothing is limited', getRequest('/v1/workers?limit=5'), 'limit'],
  ['a wait on a submission', postRequest('/v1/runs?wait=60s', '{"job":"a"}'), 'wait'],
  ['a parameter of a cancel', postRequest(`/v1/runs/${RUN}/cancel?force`, '{}'), 'force'],
])

testRefusals('invalid_cursor', [
  ['a cursor with SQL in it', getRequest('/v1/runs?cursor=%27;drop'), 'cursor'],
  ['a cursor without end', getRequest(`/v1/runs?cursor=${'a'.repeat(256)}`), 'cursor'],
])

testRefusals('run_not_found', [['a run that is not there', getRequest('/v1/runs/run_00000000002')]])

testRefusals('not_found', [
  ['a path we do not have', getRequest('/v1/schedulers')],
  ['a path above the API', getRequest('/v1/../etc/passwd')],
  ['a slash too many', getRequest('/livez/')],
])

testRefusals('method_not_allowed', [
  ['DELETE of a run', { ...getRequest(`/v1/runs/${RUN}`), method: 'DELETE' }],
  ['PUT of a run', { ...submitRequest({}), method: 'PUT' }],
  ['GET of a batch', getRequest('/v1/runs:batch')],
  ['GET of an exchange', getRequest(`/v1/workers/${SESSION}/exchange`)],
  ['POST to the health check', postRequest('/livez', '{}')],
])

testRefusals('uri_too_long', [
  ['an id of 400 letters', getRequest(`/v1/runs/${'x'.repeat(400)}`)],
  ['a query of 9,000 letters', getRequest(`/v1/runs?job=${'x'.repeat(9_000)}`)],
])

testRefusals('unauthorized', [
  ['no token', { method: 'GET', url: '/v1/runs' }],
  ['another token', getRequest('/v1/runs', { authorization: 'Bearer wrong' })],
  ['a longer token', getRequest('/v1/runs', { authorization: `Bearer ${TEST_TOKEN}x` })],
  ['an empty token', getRequest('/v1/runs', { authorization: 'Bearer ' })],
  [
    'the token under another scheme',
    getRequest('/v1/runs', { authorization: `Basic ${TEST_TOKEN}` }),
  ],
  ['an unknown path without a token', { method: 'GET', url: '/v1/secret' }],
])

testRefusals('host_not_allowed', [
  ['a foreign name', getRequest('/v1/runs', { host: 'evil.example' })],
  ['a foreign name that asks for health', getRequest('/livez', { host: 'evil.example:7420' })],
  ['a name that starts like ours', getRequest('/v1/runs', { host: '127.0.0.1.evil.example' })],
  ['our name as a user of another', getRequest('/v1/runs', { host: 'localhost@evil.example' })],
])

testRefusals('invalid_request', [
  ['a bad escape', getRequest('/v1/runs/%zz')],
  [
    'a path for a project',
    getRequest('/v1/runs', { 'punctual-project': '../x' }),
    'Punctual-Project',
  ],
  ['an empty project', getRequest('/v1/runs', { 'punctual-project': '' }), 'Punctual-Project'],
  ...['', 'a b', 'k'.repeat(10_000), 'é'].map((key): BadInput => {
    const why = `"${key.slice(0, 10)}" for an idempotency key`
    return [why, rawRequest('{"job":"a"}', { 'idempotency-key': key }), 'Idempotency-Key']
  }),
])

const twoKeys = '{"job":"a","idempotency_key":"k"}'

testRefusals('invalid_field', [
  [
    'a key in the header and one in the body',
    rawRequest(twoKeys, { 'idempotency-key': 'k' }),
    'idempotency_key',
  ],
])
