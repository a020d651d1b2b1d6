"""Shows traces to the judge of a generated file, and says where it differs from what is expected."""
import importlib.util
import json
import sys

spec = importlib.util.spec_from_file_location("case", sys.argv[1])
case = importlib.util.module_from_spec(spec)
spec.loader.exec_module(case)


def judged(line):
    judge = case.Judge(case.first_state(line["constants"], case.Random(1)))
    types = {**case.CONSTANTS, **case.VARIABLES}
    begin = {name: case.inward(value, types[name]) for name, value in line["begin"].items()}
    if sys.argv[2] == "same-beginning" and judge.data != begin:
        return f"it begins with {judge.data}, not with {begin}"
    judge.data = begin
    taken, verdict = 0, None
    for kind, *what in line["steps"]:
        if judge.verdict():
            break
        if kind == "silence":
            ended = judge.silence_happened()
        elif kind == "observation":
            ended = judge.observation_happened(*what)
        else:
            action, values = what
            try:
                inside = [case.inward(values[name], type_) for name, type_ in case.ACTIONS[action][1]]
                ended = judge.stimulus_happened(action, inside)
            except case.Misread:
                ended = "Inconclusive", "a value outside its type"
        if ended is not None:
            verdict = ended[0]
            break
        taken += 1
    verdict = verdict or judge.verdict()
    data = {name: case.inward(value, types[name]) for name, value in line["data"].items()}
    ours = (taken, verdict, judge.location, judge.data)
    theirs = (line["taken"], line["verdict"], line["location"], data)
    if ours != theirs:
        return f"{ours}, expected {theirs}"
    return None


count = 0
for number, text in enumerate(sys.stdin):
    line = json.loads(text, parse_float=case.json_number, parse_int=case.json_number)
    wrong = judged(line)
    count += 1
    if wrong:
        print(f"trace {number}: {wrong}\n{text}")
        sys.exit(1)
print(f"{count} alike")
