"""The part of XLA's HLO protobuf schema that this package reads or writes; everything else passes through.

A protobuf runtime keeps fields that the schema does not name and writes them back, so a module loses nothing on its
way through these messages. Names and numbers: XLA, ``xla/service/hlo.proto`` and ``xla/xla_data.proto``.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

__all__ = ["BUFFER", "TUPLE", "HloInstructionProto", "HloModuleProto", "HloProto", "ShapeProto"]

TUPLE = 13
"""``PrimitiveType.TUPLE``, the ``element_type`` of a tuple shape."""
BUFFER = 34
"""``PrimitiveType.BUFFER``: memory passed by reference, ``b(f32[4])``."""

_PACKAGE = "neuron_ctrldep.hlo"

# message -> field -> (number, type); "*" marks a repeated field, "map" a map from its key type to its value type.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "ShapeProto": {
        "element_type": (2, "int32"),
        "dimensions": (3, "*int64"),
        "tuple_shapes": (4, "*ShapeProto"),
        "is_dynamic_dimension": (6, "*bool"),
    },
    "LiteralProto": {
        "preds": (2, "*bool"),
        "s32s": (4, "*int32"),
        "s64s": (5, "*int64"),
        "u32s": (6, "*uint32"),
        "u64s": (7, "*uint64"),
    },
    "OpMetadata": {"op_name": (2, "string")},
    "ProgramShapeProto": {"parameters": (1, "*ShapeProto"), "result": (2, "ShapeProto")},
    "FrontendAttributes": {"map": (1, "map string string")},
    "OutputOperandAliasing": {
        "output_shape_index": (1, "*int64"),
        "operand_index": (2, "int64"),
        "operand_shape_index": (3, "*int64"),
    },
    "HloInstructionProto": {
        "name": (1, "string"),
        "opcode": (2, "string"),
        "shape": (3, "ShapeProto"),
        "metadata": (7, "OpMetadata"),
        "literal": (8, "LiteralProto"),
        "parameter_number": (9, "int64"),
        "tuple_index": (13, "int64"),
        "dimensions": (14, "*int64"),
        "channel_id": (26, "int64"),
        "custom_call_target": (28, "string"),
        "id": (35, "int64"),
        "operand_ids": (36, "*int64"),
        "control_predecessor_ids": (37, "*int64"),
        "called_computation_ids": (38, "*int64"),
        "comparison_direction": (63, "string"),
        "custom_call_has_side_effect": (65, "bool"),
        "frontend_attributes": (68, "FrontendAttributes"),
        "output_operand_aliasing": (74, "*OutputOperandAliasing"),
        "custom_call_api_version": (77, "int32"),
    },
    "HloComputationProto": {
        "name": (1, "string"),
        "instructions": (2, "*HloInstructionProto"),
        "program_shape": (4, "ProgramShapeProto"),
        "id": (5, "int64"),
        "root_id": (6, "int64"),
    },
    "InstructionSequence": {"instruction_ids": (1, "*int64")},
    "HloScheduleProto": {"sequences": (1, "map int64 InstructionSequence")},
    "HloModuleProto": {
        "name": (1, "string"),
        "entry_computation_name": (2, "string"),
        "computations": (3, "*HloComputationProto"),
        "host_program_shape": (4, "ProgramShapeProto"),
        "entry_computation_id": (6, "int64"),
        "schedule": (7, "HloScheduleProto"),
        "frontend_attributes": (19, "FrontendAttributes"),
    },
    "HloProto": {"hlo_module": (1, "HloModuleProto")},
}

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _Field.TYPE_BOOL,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
    "uint32": _Field.TYPE_UINT32,
    "uint64": _Field.TYPE_UINT64,
}


def _add_field(message: descriptor_pb2.DescriptorProto, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _Field.LABEL_REPEATED if kind.startswith(("*", "map ")) else _Field.LABEL_OPTIONAL
    if kind.startswith("map "):
        # A map is a repeated message with a key and a value, marked as a map entry (protobuf language guide, "Maps").
        _, key, value = kind.split(" ")
        entry = message.nested_type.add(name="".join(part.capitalize() for part in name.split("_")) + "Entry")
        entry.options.map_entry = True
        _add_field(entry, "key", 1, key)
        _add_field(entry, "value", 2, value)
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{message.name}.{entry.name}"
        return
    kind = kind.removeprefix("*")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"


def _build() -> dict[str, type[Message]]:
    file = descriptor_pb2.FileDescriptorProto(name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto3")
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for name, (number, kind) in fields.items():
            _add_field(message, name, number, kind)
    # A pool of its own: XLA's real hlo.proto may be loaded in the same process.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


_CLASSES = _build()

# Their fields are made at run time, so they are Any to the type checker.
ShapeProto: Any = _CLASSES["ShapeProto"]
HloInstructionProto: Any = _CLASSES["HloInstructionProto"]
HloModuleProto: Any = _CLASSES["HloModuleProto"]
HloProto: Any = _CLASSES["HloProto"]
