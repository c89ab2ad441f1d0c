"""
A subscriber in Python: it prints every event in the order of the log, and goes on where it was after kill -9.

    pip install nats-py
    NATS_TOKEN=… python subscriber.py STATEFILE

It reads the stream ARBOR_EVENTS with a durable consumer, which needs the token or a user with that right. Each event is
checked against the one before it: the number of its message (its position in the log) and its actor's version must be the
next ones. "gap" has the numbers that are missing. "restored" says that the database was restored to an earlier point, and
that all that was printed before it is to be discarded: docs/events.md has the rules. A line that was printed just before
a kill may be printed again, with its number.
"""
import asyncio
import json
import os
import sys

import nats
from nats.errors import NoRespondersError, TimeoutError as NoAnswer
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.errors import NotFoundError, ServiceUnavailableError

STREAM = "ARBOR_EVENTS"
SUBJECT = "arbor.event.>"
DURABLE = "subscriber-py"
GENERATION = "Arbor-Generation"


class Problem(Exception):
    """What a user can mend, in a sentence."""


class State:
    """What was printed: the last number, the generation of the log, and the last version of each actor."""

    def __init__(self, file):
        self.file = file
        self.number, self.generation, self.versions = 0, None, {}
        if not os.path.exists(file):
            return
        try:
            with open(file, encoding="utf8") as content:
                saved = json.load(content)
            self.number, self.generation, self.versions = saved["number"], saved["generation"], dict(saved["versions"])
            if type(self.number) is not int:
                raise TypeError
        except (ValueError, KeyError, TypeError):
            raise Problem(f"{file} is not a state file of this program: restore or remove it.") from None

    def save(self):
        """Writes the file as a whole: after a crash it has its old content or the new one."""
        with open(f"{self.file}.new", "w", encoding="utf8") as content:
            json.dump({"number": self.number, "generation": self.generation, "versions": self.versions}, content)
        os.replace(f"{self.file}.new", self.file)

    def begin(self, generation):
        self.number, self.generation, self.versions = 0, generation, {}
        self.save()

    def take(self, number, event):
        """Lines for an event, which is the next one, a repeated one, or after a gap."""
        if number <= self.number:
            return []  # its acknowledgement was lost
        lines = []
        if number > self.number + 1:
            # older than what is kept; what is known of actors may miss something
            lines.append({"gap": [self.number + 1, number - 1]})
            self.versions = {}
        actor, version = "{kind}/{id}".format(**event["data"]["entity"]), event["data"]["version"]
        last = self.versions.get(actor, version - 1)
        if version != last + 1:
            lines.append({"wrong": actor, "version": version, "after": last})
        lines.append({"number": number, "type": event["type"], "actor": actor, "version": version})
        self.number, self.versions[actor] = number, version
        return lines


async def consumer(js):
    """The durable consumer; a new one begins with the first event."""
    config = ConsumerConfig(
        durable_name=DURABLE,
        filter_subject=SUBJECT,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=2,
        # one at a time: what is delivered again after a crash comes before all that is newer
        max_ack_pending=1,
    )
    await js.add_consumer(STREAM, config)
    return await js.pull_subscribe_bind(DURABLE, STREAM)


async def newest_generation(js):
    """The generation of the newest message: another one after a restore of the database. None where that is not known."""
    try:
        last = (await js.stream_info(STREAM)).state.last_seq
        return ((await js.get_msg(STREAM, last)).headers or {}).get(GENERATION, "")
    except (NoAnswer, NoRespondersError, NotFoundError, ServiceUnavailableError):
        return None  # there is no message, or the server is away


async def follow(file):
    state = State(file)
    server = {"servers": os.environ.get("NATS_URL", "nats://127.0.0.1:4222"), "token": os.environ.get("NATS_TOKEN")}
    # ends at once where the address or the token is wrong; later the client connects again by itself
    await (await nats.connect(**server, allow_reconnect=False, max_reconnect_attempts=1, error_cb=raised)).close()
    js = (await nats.connect(**server, max_reconnect_attempts=-1, error_cb=report)).jetstream()
    messages = await consumer(js)
    while True:
        try:
            [message] = await messages.fetch(1, timeout=1)
            generation = (message.headers or {}).get(GENERATION, "")
        except (NoAnswer, NoRespondersError, ServiceUnavailableError):
            message, generation = None, await newest_generation(js)
        if generation is not None and generation != state.generation:
            if state.generation is not None:
                # numbers may have been used again: everything is read from the start
                print(json.dumps({"restored": generation}), flush=True)
                await js.delete_consumer(STREAM, DURABLE)
                messages, message = await consumer(js), None
            state.begin(generation)
        if message is None:
            continue
        for line in state.take(message.metadata.sequence.stream, json.loads(message.data)):
            print(json.dumps(line), flush=True)
        state.save()
        await message.ack()


async def report(error):
    print(error, file=sys.stderr, flush=True)


async def raised(_):
    """For errors that `connect` raises as well."""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: subscriber.py STATEFILE")
    try:
        asyncio.run(follow(sys.argv[1]))
    except KeyboardInterrupt:
        pass
    except (Problem, nats.errors.Error, OSError) as error:
        sys.exit(str(error) or type(error).__name__)
