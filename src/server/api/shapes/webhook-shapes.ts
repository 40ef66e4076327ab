import type {
  WireDelivery,
  WireDeliveryDetail,
  WireNewWebhook,
  WireWebhook,
} from '../../../core/wire/views.ts'
import { WEBHOOK_EVENTS } from '../../../core/webhook/webhook.ts'
import { DELIVERY_STATES } from '../../../core/webhook/delivery.ts'
import {
  anything,
  flag,
  list,
  listOf,
  orNull,
  page,
  record,
  runId,
  text,
  time,
  whole,
} from './shapes.ts'

const webhook = {
  name: text('Unique within its project.'),
  url: text('Where messages are sent to.'),
  events: list({ type: 'string', enum: WEBHOOK_EVENTS }, 'What it is told of.'),
  jobs: orNull(list({ type: 'string' }, 'Only of jobs with such names; null for all.')),
  enabled: flag('Nothing is sent while it is not.'),
  disabled_reason: orNull(text('Why it is disabled, when nobody asked for it.')),
  secret_ending: text('The last characters of its secret, by which people recognise it.'),
  previous_secret_until: orNull(time('Until then the secret before is used as well.')),
  failing_since: orNull(time('Since when no message has got through; null while they do.')),
  created_at: time('When it was made.'),
  created_by: text('The name of the token it was made with.'),
  updated_at: time('When it was changed last.'),
}

const delivery = {
  id: text('Its name for the receiver too, in the header `webhook-id`; the same with every try.', {
    pattern: '^dlv_[0-9a-z]{11}$',
    examples: ['dlv_00f3k9m2q7x'],
  }),
  event: text('What it tells.', { examples: ['run.failed'] }),
  run: orNull(runId('Of which run; null for a test.')),
  state: text('Whether it got through, is given up, or neither yet.', { enum: DELIVERY_STATES }),
  attempts: whole('Tries so far; one that is under way counts.'),
  status: orNull(whole('What the endpoint answered last.')),
  error: orNull(text('What was wrong the last time.')),
  took_ms: orNull(whole('How long the last try took.')),
  created_at: time('When it was made.'),
  last_attempt_at: orNull(time('When it was tried last.')),
  next_attempt_at: orNull(time('When it is tried next; null if it is not.')),
}

/** Webhooks and what they sent. */
export const WEBHOOK_SHAPES = {
  Webhook: record<WireWebhook>('A webhook, without its secret.', webhook),
  WebhookList: listOf('Webhook'),
  CreatedWebhook: record<WireNewWebhook>('A webhook and its secret; this answer alone shows it.', {
    ...webhook,
    secret: text('What messages are signed with.'),
  }),
  Delivery: record<WireDelivery>('One message to one endpoint.', delivery),
  DeliveryPage: page('Delivery'),
  DeliveryDetail: record<WireDeliveryDetail>('One message, with what it says.', {
    ...delivery,
    body: anything('The JSON that is sent.'),
  }),
}
