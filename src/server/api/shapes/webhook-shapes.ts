import type {
  WireDeliveryDetail,
  WireDelivery,
  WireNewWebhook,
  WireWebhook,
} from '../../../core/webhook/webhook-views.ts'
import { WEBHOOK_EVENTS } from '../../../core/webhook/webhook.ts'
import { DELIVERY_STATES } from '../../../core/webhook/delivery.ts'
import {
  anyShape,
  booleanShape,
  listShape,
  refListShape,
  nullableShape,
  pageShape,
  objectShape,
  runIdShape,
  textShape,
  timeShape,
  integerShape,
} from './shapes.ts'

const webhook = {
  name: textShape('Unique within its project.'),
  url: textShape('The URL that receives messages.'),
  events: listShape({ type: 'string', enum: WEBHOOK_EVENTS }, 'The events that are sent.'),
  jobs: nullableShape(
    listShape({ type: 'string' }, 'Only for jobs with matching names; null for all.'),
  ),
  enabled: booleanShape('While false, nothing is sent.'),
  disabled_reason: nullableShape(textShape('Why it was disabled automatically.')),
  secret_ending: textShape('The last characters of its secret, for recognition.'),
  previous_secret_until: nullableShape(
    timeShape('Until then the previous secret is used as well.'),
  ),
  failing_since: nullableShape(timeShape('Since when deliveries fail; null while they succeed.')),
  created_at: timeShape('When it was created.'),
  created_by: textShape('The name of the token that created it.'),
  updated_at: timeShape('When it was last changed.'),
}

const delivery = {
  id: textShape('Its id, also sent in the header `webhook-id`; the same for every try.', {
    pattern: '^dlv_[0-9a-z]{11}$',
    examples: ['dlv_00f3k9m2q7x'],
  }),
  event: textShape('The event.', { examples: ['run.failed'] }),
  run: nullableShape(runIdShape('The run; null for a test.')),
  state: textShape('Whether it was delivered, given up, or is still pending.', {
    enum: DELIVERY_STATES,
  }),
  attempts: integerShape('Tries so far, including one in progress.'),
  status: nullableShape(integerShape('The last response status of the endpoint.')),
  error: nullableShape(textShape('The last error.')),
  took_ms: nullableShape(integerShape('How long the last try took.')),
  created_at: timeShape('When it was created.'),
  last_attempt_at: nullableShape(timeShape('When it was last tried.')),
  next_attempt_at: nullableShape(timeShape('When it is tried next; null if never.')),
}

/** Webhooks and their deliveries. */
export const WEBHOOK_SHAPES = {
  Webhook: objectShape<WireWebhook>('A webhook, without its secret.', webhook),
  WebhookList: refListShape('Webhook'),
  CreatedWebhook: objectShape<WireNewWebhook>(
    'A webhook and its secret; only this answer shows it.',
    {
      ...webhook,
      secret: textShape('The secret that signs messages.'),
    },
  ),
  Delivery: objectShape<WireDelivery>('One message to one endpoint.', delivery),
  DeliveryPage: pageShape('Delivery'),
  DeliveryDetail: objectShape<WireDeliveryDetail>('One message with its body.', {
    ...delivery,
    body: anyShape('The JSON that is sent.'),
  }),
}
