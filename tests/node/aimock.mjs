// The model APIs and the AG-UI agent that aimock mocks, each at its own path, on one port.

import {
  AGUIMock,
  LLMock,
  buildAGUICompositeResponse,
  buildAGUIErrorResponse,
  buildAGUIReasoningResponse,
  buildAGUITextChunkResponse,
  buildAGUITextResponse,
  buildAGUIToolCallChunk,
  buildAGUIToolCallResponse,
} from '@copilotkit/aimock';
import { QUESTIONS, ready, said } from './story.mjs';

// In the words of each API.
const USAGE = {
  ...{ prompt_tokens: 3, completion_tokens: 5 },
  ...{ input_tokens: 3, output_tokens: 5 },
  ...{ promptTokenCount: 3, candidatesTokenCount: 5 },
};

const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join(''));

const next = ({ messages, model }) =>
  said(
    messages.map(({ role, content }) => ({ role, text: textOf(content) })),
    model,
  );

function answer(request) {
  const { thought, text, calls, finish, error } = next(request);
  if (error) return { error: { message: error, type: 'server_error' }, status: 503 };
  return {
    ...(text && { content: text }),
    ...(thought && { reasoning: thought }),
    ...(calls && { toolCalls: calls.map(({ args, ...call }) => ({ ...call, arguments: JSON.stringify(args) })) }),
    ...(finish && { finishReason: finish }),
    usage: USAGE,
  };
}

// The agent, unlike the models, runs its tools.
function run({ thought, text, calls = [], then, error, stops }) {
  if (error) return buildAGUIErrorResponse(error);
  const events = buildAGUICompositeResponse(
    [
      ...(thought ? [buildAGUIReasoningResponse(thought)] : []),
      ...(text ? [buildAGUITextResponse(text)] : []),
      ...calls.map(({ name, args }) => {
        const result = then && JSON.stringify({ number: args.number, state: 'shipped' });
        return buildAGUIToolCallResponse(name, JSON.stringify(args), { result });
      }),
      ...(then ? [buildAGUITextResponse(then)] : []),
    ],
    { usage: [{ provider: 'mock', model: 'mock', inputTokens: 3, outputTokens: 5 }] },
  );
  return stops ? events.slice(0, -1) : events;
}

const agent = new AGUIMock();
for (const question of QUESTIONS) agent.onRun(question, run(said([{ role: 'user', text: question }])));
const NAME = 'You are Åsa.';
agent.onPredicate((input) => next(input)?.text === NAME, run({ text: NAME }));
const TOLD = 'Be brief. I am mock-1.';
agent.onPredicate((input) => next({ ...input, ...input.forwardedProps })?.text === TOLD, run({ text: TOLD }));

// Texts and calls by turns, the call a second time as it was.
const look = { type: 'toolCall', name: 'find_order', arguments: '{"number":1042}' };
const says = (text) => ({ type: 'text', text });
const TWICE = [says('Once 🙂. '), look, says('Twice. '), look, says('Done.')];
agent.onRun(
  'Look twice.',
  buildAGUICompositeResponse(
    TWICE.map(({ text, name, arguments: args }, at) => {
      if (text) return buildAGUITextChunkResponse(text);
      return buildAGUIToolCallChunk(args, { toolCallId: `call_${at}`, toolCallName: name });
    }),
  ),
);

const mock = new LLMock({ port: 0, chunkSize: 1 });
mock.on({ userMessage: 'Say when.' }, answer, { truncateAfterChunks: 12, latency: 2 });
mock.on({ userMessage: 'Look twice.' }, { blocks: TWICE });
mock.on({}, answer);
mock.mount('/', agent);
await mock.start();
ready(mock.port);
